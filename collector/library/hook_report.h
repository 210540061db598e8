// What came of the search for one kind of allocator.
#ifndef OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_REPORT_H_
#define OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_REPORT_H_

#include <string>

namespace oom_forensics::collector {

struct HookReport {
  // At least one class is hooked.
  bool hooked = false;
  // What was found and done, one sentence per line; what the session plane and
  // `oom-forensics doctor` show.
  std::string sentences;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_REPORT_H_
