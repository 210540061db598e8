// How a process ended that left a black box: from what it could still say, from
// who waited for it, from its cgroup and from the kernel's log.
#ifndef OOM_FORENSICS_CONVERTER_BLACK_BOX_ENDING_H_
#define OOM_FORENSICS_CONVERTER_BLACK_BOX_ENDING_H_

#include <optional>
#include <string>
#include <string_view>

#include "converter/black_box/box_trace.h"

namespace oom_forensics {

// What waitpid() said of a process; 0 and 0: nobody waited.
struct WaitStatus {
  uint64_t process_id = 0;
  int signal = 0;
  int exit_code = 0;
};

// "SIGKILL" of 9; "signal 40" of one without a name.
std::string SignalName(int signal);

// Looks at the cgroup and at the kernel's log as they are now.
Ending FindEnding(const ReadBox& box, const std::optional<WaitStatus>& status);

// The line of a kernel's log ("6,1234,5678901,-;text" each, as /dev/kmsg has
// them) that tells of the end of a process, and what it tells: `end` stays
// "unknown" where none does. `boot_ns` is when the kernel's clock was 0.
Ending EndingInKernelLog(std::string_view log, const ReadBox& box,
                         int64_t boot_ns);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BLACK_BOX_ENDING_H_
