// What a shell needs to complete the command.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_COMPLETION_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_COMPLETION_H_

#include <string>

#include "converter/command/cli11.h"

namespace oom_forensics {

// A script for `shell`, "bash" or "zsh", that completes commands, their flags
// and the values that a flag lists; other words are files.
std::string CompletionScript(const CLI::App& app, const std::string& shell);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_COMPLETION_H_
