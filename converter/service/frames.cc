#include "converter/service/frames.h"

#include <array>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace oom_forensics {

absl::StatusOr<std::string> ReadFrame(std::FILE* stream) {
  std::array<unsigned char, 4> prefix;
  const size_t got = std::fread(prefix.data(), 1, prefix.size(), stream);
  if (got == 0) return absl::OutOfRangeError("The stream has ended.");
  if (got < prefix.size()) {
    return absl::DataLossError("The stream ends inside a frame.");
  }
  const uint32_t length = static_cast<uint32_t>(prefix[0]) |
                          static_cast<uint32_t>(prefix[1]) << 8 |
                          static_cast<uint32_t>(prefix[2]) << 16 |
                          static_cast<uint32_t>(prefix[3]) << 24;
  if (length > kMaxRequestBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("A request of ", length, " bytes is too long."));
  }
  std::string bytes(length, '\0');
  if (std::fread(bytes.data(), 1, length, stream) < length) {
    return absl::DataLossError("The stream ends inside a frame.");
  }
  return bytes;
}

absl::Status WriteFrame(std::string_view bytes, std::FILE* stream) {
  if (bytes.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError("An answer is longer than 4 GiB.");
  }
  const auto length = static_cast<uint32_t>(bytes.size());
  const std::array<unsigned char, 4> prefix = {
      static_cast<unsigned char>(length),
      static_cast<unsigned char>(length >> 8),
      static_cast<unsigned char>(length >> 16),
      static_cast<unsigned char>(length >> 24)};
  if (std::fwrite(prefix.data(), 1, prefix.size(), stream) < prefix.size() ||
      std::fwrite(bytes.data(), 1, bytes.size(), stream) < bytes.size()) {
    return absl::UnavailableError("Nobody reads the answers any more.");
  }
  return absl::OkStatus();
}

}  // namespace oom_forensics
