// The flags of what-if: which settings are other than recorded.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_

#include "converter/command/flags.h"

namespace oom_forensics {

// Also --host, --allocator and --at: --allocator=bfc and --allocator=async are
// kinds, any other value is a name.
void AddWhatIfFlags(CLI::App* command, Options* options);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_
