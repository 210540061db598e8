#include "converter/exports/names.h"

#include <string_view>

#include "absl/strings/ascii.h"

namespace oom_forensics {

std::string RoleName(Role role) {
  if (role == ROLE_UNKNOWN) return "";
  const std::string name = absl::AsciiStrToLower(Role_Name(role));
  return name.substr(std::string_view("role_").size());
}

std::string ModeName(Mode mode) {
  return mode == MODE_UNKNOWN ? "" : absl::AsciiStrToLower(Mode_Name(mode));
}

}  // namespace oom_forensics
