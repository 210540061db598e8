#include "converter/forensics/source_frames.h"

namespace oom_forensics {

SourceFrame MakeSourceFrame(const HostTrace& host, LineId line) {
  const CodeLine& code = host.source.LineAt(line);
  SourceFrame frame;
  frame.set_file(host.strings.Get(code.file));
  frame.set_line(code.line);
  frame.set_function(host.strings.Get(code.function));
  frame.set_text(host.strings.Get(host.source.TextOf(code)));
  return frame;
}

bool FillSourceLocation(const HostTrace& host, const AllocationSite& site,
                        Frames frames, SourceLocation* location) {
  const SiteSource source = SourceOf(host, site);
  const RecordedStack& called = host.source.StackAt(source.called);
  if (source.line == kNoLine && called.frames.empty()) return false;
  if (source.line != kNoLine) {
    *location->mutable_line() = MakeSourceFrame(host, source.line);
    location->set_object(host.strings.Get(source.object));
  }
  if (called.user_line != kNoLine && called.user_line != source.line) {
    *location->mutable_called() = MakeSourceFrame(host, called.user_line);
  }
  if (frames == Frames::kAll) {
    for (const StackFrame& frame : called.frames) {
      SourceFrame* message = location->add_frames();
      *message = MakeSourceFrame(host, frame.line);
      message->set_is_library(frame.is_library);
    }
  }
  return true;
}

}  // namespace oom_forensics
