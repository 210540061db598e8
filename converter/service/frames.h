// Length-prefixed frames: u32 little-endian, then so many bytes.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_FRAMES_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_FRAMES_H_

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace oom_forensics {

// No question is longer.
inline constexpr uint32_t kMaxRequestBytes = 1 << 20;

// The next frame. OutOfRange: the stream has ended between frames. Any other
// error: it cannot be read any further.
absl::StatusOr<std::string> ReadFrame(std::FILE* stream);

absl::Status WriteFrame(std::string_view bytes, std::FILE* stream);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_FRAMES_H_
