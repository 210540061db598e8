// The commands of `oom-forensics`. Each writes to standard output (or
// --output), says on standard error what went wrong, and returns the exit code.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_COMMANDS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_COMMANDS_H_

#include <string>
#include <vector>

#include "converter/command/options.h"

namespace oom_forensics {

enum ExitCode {
  kExitDone = 0,
  kExitUnreadable = 1,
  kExitUsage = 2,
  kExitFailOn = 3,
};

// Runs the command that the arguments name, without the program's name.
int RunCommand(const std::vector<std::string>& arguments);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_COMMANDS_H_
