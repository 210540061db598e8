#include "converter/exports/pprof/call_stack.h"

#include "converter/exports/pprof/scope_stack.h"
#include "converter/trace/site_source.h"

namespace oom_forensics {
namespace {

void AddUserLines(const HostTrace& host, StackIndex stack,
                  std::vector<StackPlace>* places) {
  for (const StackFrame& frame : host.source.StackAt(stack).frames) {
    if (frame.is_library) continue;
    const CodeLine& line = host.source.LineAt(frame.line);
    places->push_back({host.strings.Get(line.function),
                       host.strings.Get(line.file), line.line});
  }
}

}  // namespace

std::vector<StackPlace> CallStack(const HostTrace& host,
                                  const AllocationSite& site) {
  std::vector<StackPlace> places;
  for (const std::string_view name : ScopeStack(host.OpOf(site))) {
    places.push_back({name, {}, 0});
  }
  const SiteSource source = SourceOf(host, site);
  // A layer is made at one line and called at another: its own is the nearer.
  if (source.made_at != kNoStack && source.line != kNoLine) {
    const CodeLine& line = host.source.LineAt(source.line);
    places.push_back({host.strings.Get(line.function),
                      host.strings.Get(line.file), line.line});
  }
  AddUserLines(host, source.called, &places);
  return places;
}

}  // namespace oom_forensics
