// What processors hand to each other as a whole: two cores that write into one
// line wait for each other, whatever they write.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_CACHE_LINE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_CACHE_LINE_H_

#include <cstddef>

namespace oom_forensics::collector {

inline constexpr size_t kCacheLineBytes = 64;

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_CACHE_LINE_H_
