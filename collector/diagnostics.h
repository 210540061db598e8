// What the collector says on stderr. It speaks rarely: one line where it cannot
// do its work and why, one summary per out-of-memory.
#ifndef OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_
#define OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_

#include <string_view>

namespace oom_forensics::collector {

// Writes "OOM Forensics: <sentence>" and a newline at once, so that lines of
// several threads do not mix. Needs no memory.
void Say(std::string_view sentence) noexcept;

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_DIAGNOSTICS_H_
