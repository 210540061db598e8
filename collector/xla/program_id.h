// Where an xla::HloModule keeps its unique id. Nothing that TensorFlow exports
// tells it, and the place differs by version; but the exported destructor of
// CpuExecutable reads it there to hand it to
// XlaDebugInfoManager::UnregisterModule, so its own machine code tells.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_PROGRAM_ID_H_
#define OOM_FORENSICS_COLLECTOR_XLA_PROGRAM_ID_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace oom_forensics::collector {

// The offset that `code` reads the second argument (esi) from of its one call
// through `call_slot`. None if it does not look so.
std::optional<size_t> OffsetOfPassedId(
    std::basic_string_view<unsigned char> code, const void* call_slot);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_PROGRAM_ID_H_
