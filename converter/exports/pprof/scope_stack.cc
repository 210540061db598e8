#include "converter/exports/pprof/scope_stack.h"

#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kNoOp = "(no op recorded)";

}  // namespace

std::vector<std::string_view> ScopeStack(std::string_view op_name) {
  const std::string_view path = LayerPath(op_name);
  if (path.empty()) return {kNoOp};
  std::vector<std::string_view> stack = {path};
  std::string_view scope = ScopeOf(op_name);
  while (!scope.empty()) {
    stack.push_back(scope);
    const size_t slash = scope.rfind('/');
    scope = slash == std::string_view::npos ? std::string_view()
                                            : scope.substr(0, slash);
  }
  return stack;
}

}  // namespace oom_forensics
