#include "converter/trace/op_name.h"

#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// "PartitionedCall_2" is, "StatefulPartitionedCallback" is not.
bool IsCall(std::string_view part) {
  if (!ConsumePrefix(&part, "StatefulPartitionedCall") &&
      !ConsumePrefix(&part, "PartitionedCall")) {
    return false;
  }
  if (part.empty()) return true;
  if (!ConsumePrefix(&part, "_") || part.empty()) return false;
  for (const char c : part) {
    if (!IsDigit(c)) return false;
  }
  return true;
}

std::string_view WithoutNumber(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  if (end == name.size() || end < 2 || name[end - 1] != '_') return name;
  return name.substr(0, end - 1);
}

}  // namespace

std::string_view StripCallPrefix(std::string_view op_name) {
  while (true) {
    const size_t slash = op_name.find('/');
    if (slash == std::string_view::npos) return op_name;
    if (!IsCall(op_name.substr(0, slash))) return op_name;
    op_name.remove_prefix(slash + 1);
  }
}

std::string_view ScopeOf(std::string_view op_name) {
  op_name = StripCallPrefix(op_name);
  const size_t slash = op_name.rfind('/');
  return slash == std::string_view::npos ? std::string_view()
                                         : op_name.substr(0, slash);
}

std::string_view OpTypeOf(std::string_view op_name) {
  const size_t slash = op_name.rfind('/');
  if (slash != std::string_view::npos) op_name.remove_prefix(slash + 1);
  return WithoutNumber(op_name);
}

bool IsInScope(std::string_view op_name, std::string_view scope) {
  while (ConsumeSuffix(&scope, "/")) {
  }
  if (scope.empty()) return true;
  op_name = StripCallPrefix(op_name);
  scope = StripCallPrefix(scope);
  if (!StartsWith(op_name, scope)) return false;
  return op_name.size() == scope.size() || op_name[scope.size()] == '/';
}

}  // namespace oom_forensics
