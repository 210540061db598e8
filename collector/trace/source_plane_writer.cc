#include "collector/trace/source_plane_writer.h"

#include <deque>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "collector/trace/line_text.h"
#include "core/plane_builder.h"
#include "core/text_field.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

using protozero::pbf_writer;
namespace xplane = schema::xplane;
namespace xevent_metadata = schema::xevent_metadata;

class SourcePlaneWriter {
 public:
  SourcePlaneWriter(const SourceFacts& facts, std::string* space)
      : facts_(facts), plane_(space, schema::kSourcePlane) {}

  void AddStack(StackId id, const StackFrames& frames) {
    std::string fields;
    pbf_writer writer(fields);
    AddText(&writer, xevent_metadata::kName, schema::kStackRecord);
    for (const StackFrame& frame : frames) {
      plane_.AddRef(&writer, xevent_metadata::kStats,
                    frame.is_library ? schema::kLibraryFrame : schema::kFrame,
                    TextOf(frame));
      if (!frame.is_library && frame.line > 0) {
        user_lines_[frame.file].insert(frame.line);
      }
    }
    plane_.AddEventMetadataWithId(id, fields);
  }

  // The texts of the users' lines. Their ids follow those of the stacks.
  void AddLines(int64_t first_id) {
    for (const auto& [file, lines] : user_lines_) {
      for (const auto& [line, text] : TextsOfLines(file, lines)) {
        std::string fields;
        pbf_writer writer(fields);
        AddText(&writer, xevent_metadata::kName, schema::kLineRecord);
        AddText(&writer, xevent_metadata::kDisplayName,
                std::string(ShownPath(facts_, file)) + schema::kFrameSeparator +
                    std::to_string(line));
        plane_.AddString(&writer, xevent_metadata::kStats, schema::kText, text);
        plane_.AddEventMetadataWithId(first_id++, fields);
      }
    }
  }

  void Finish() {
    pbf_writer* plane = plane_.plane();
    plane_.AddString(plane, xplane::kStats, schema::kSourceLines, facts_.state);
    plane_.AddUint(plane, xplane::kStats, schema::kDroppedStacks,
                   facts_.dropped_stacks);
    plane_.Finish();
  }

 private:
  // Lives as long as the plane.
  std::string_view TextOf(const StackFrame& frame) {
    std::string text(ShownPath(facts_, frame.file));
    text += schema::kFrameSeparator;
    text += std::to_string(frame.line);
    text += schema::kFrameSeparator;
    text += frame.function;
    return *texts_.insert(std::move(text)).first;
  }

  const SourceFacts& facts_;
  PlaneBuilder plane_;
  std::set<std::string> texts_;
  std::map<std::string_view, std::set<int>> user_lines_;
};

}  // namespace

std::string_view ShownPath(const SourceFacts& facts, std::string_view file) {
  if (facts.paths == "none") return {};
  if (facts.paths != "project" || file.empty() || file[0] != '/') return file;
  const std::string_view root = facts.project_root;
  if (!root.empty() && file.substr(0, root.size()) == root &&
      file.substr(root.size(), 1) == "/") {
    return file.substr(root.size() + 1);
  }
  return file.substr(file.rfind('/') + 1);
}

void WriteSourcePlane(const SourceFacts& facts,
                      const std::vector<const StackFrames*>& stacks,
                      const std::set<StackId>& used, std::string* space) {
  SourcePlaneWriter plane(facts, space);
  for (const StackId id : used) {
    if (id <= stacks.size()) plane.AddStack(id, *stacks[id - 1]);
  }
  if (facts.paths != "none") {
    plane.AddLines(static_cast<int64_t>(stacks.size()) + 1);
  }
  plane.Finish();
}

}  // namespace oom_forensics::collector
