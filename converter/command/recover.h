// The command `recover`: runs of the black boxes of processes that died.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_RECOVER_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_RECOVER_H_

#include <string>

namespace oom_forensics {

// Prints the folder of each run that was made. `ended` is empty, or the
// "PROCESS:SIGNAL:EXIT_CODE" of a process that was waited for. Returns the exit
// code.
int Recover(const std::string& logdir, const std::string& ended);

// Makes runs of the boxes that belong to `path`, and says on stderr which were
// left as they are, and why.
void RecoverQuietly(const std::string& path);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_RECOVER_H_
