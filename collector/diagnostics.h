// What the collector says on stderr. It speaks rarely: one line where it cannot
// do its work and why, one summary per out-of-memory.
#ifndef OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_
#define OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_

#include <string_view>

namespace oom_forensics::collector {

// Writes "OOM Forensics: <sentence>" and a newline with one write(), so that
// lines of several threads do not mix.
void Say(std::string_view sentence);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_
