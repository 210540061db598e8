// Whether what was read back can be used without fear.
#ifndef OOM_FORENSICS_CONVERTER_CACHE_SOUNDNESS_H_
#define OOM_FORENSICS_CONVERTER_CACHE_SOUNDNESS_H_

#include "converter/replay/replayed_host.h"

namespace oom_forensics {

// Every number of a row that is used as an index is one, and times do not fall.
// A trace that the reader made is sound, unless it has more regions than sites.
bool IsSound(const ReplayedHost& host);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CACHE_SOUNDNESS_H_
