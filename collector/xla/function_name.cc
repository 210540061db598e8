#include "collector/xla/function_name.h"

#include <cstddef>

namespace oom_forensics::collector {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Without the number that XLA makes names unique with: "f.15" is "f".
std::string_view WithoutUniqueNumber(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  return end > 1 && end < name.size() && name[end - 1] == '.'
             ? name.substr(0, end - 1)
             : name;
}

// Without the attributes of the compilation, which follow two underscores.
std::string_view WithoutAttributes(std::string_view name) {
  for (const std::string_view attribute :
       {"__Xla", "__config_proto", "__executor_type"}) {
    name = name.substr(0, name.find(attribute));
  }
  while (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
  return name;
}

// Without the number of the trace: "train_step_1412" is "train_step".
std::string_view WithoutTraceNumber(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  return end > 1 && end < name.size() && name[end - 1] == '_'
             ? name.substr(0, end - 1)
             : name;
}

struct Prefix {
  std::string_view text;
  std::string_view suffix;
};
// How TensorFlow names functions ("__inference_f_1"); XLA puts "a" before names
// that begin with an underscore.
constexpr Prefix kPrefixes[] = {
    {"inference_", ""},
    {"forward_", " (forward)"},
    {"backward_", " (backward)"},
};

}  // namespace

std::string FunctionNameOf(std::string_view module_name) {
  const std::string_view name =
      WithoutAttributes(WithoutUniqueNumber(module_name));
  std::string_view rest = name;
  if (StartsWith(rest, "a_")) rest.remove_prefix(2);
  while (StartsWith(rest, "_")) rest.remove_prefix(1);
  if (rest.size() != name.size()) {
    for (const Prefix& prefix : kPrefixes) {
      if (!StartsWith(rest, prefix.text)) continue;
      rest.remove_prefix(prefix.text.size());
      return std::string(WithoutTraceNumber(rest)) + std::string(prefix.suffix);
    }
  }
  return std::string(name);
}

}  // namespace oom_forensics::collector
