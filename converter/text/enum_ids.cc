#include "converter/text/enum_ids.h"

#include <string_view>

#include "absl/strings/ascii.h"

namespace oom_forensics {

std::string RoleId(Role role) {
  const std::string name = absl::AsciiStrToLower(Role_Name(role));
  return name.substr(std::string_view("role_").size());
}

std::string ModeId(Mode mode) {
  return mode == MODE_UNKNOWN ? "unknown"
                              : absl::AsciiStrToLower(Mode_Name(mode));
}

}  // namespace oom_forensics
