// Pass 1: where in the file the planes and their lines lie, and what the
// numbers in them mean. Lines come before the metadata that explain them, so
// events can only be read in a second pass.
#ifndef OOM_FORENSICS_CONVERTER_READER_XPLANE_LAYOUT_H_
#define OOM_FORENSICS_CONVERTER_READER_XPLANE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/quality/quality_log.h"
#include "converter/reader/wire.h"

namespace oom_forensics {

// An XPlane. All views are into the file.
struct PlaneLayout {
  std::string_view name;
  // Serialized XLines, in order.
  std::vector<std::string_view> lines;
  // Serialized XStats.
  std::vector<std::string_view> stats;
  // Serialized XEventMetadata by id.
  std::vector<std::pair<int64_t, std::string_view>> event_metadata;
  // Names of XStatMetadata by id.
  std::vector<std::pair<int64_t, std::string_view>> stat_names;
};

struct SpaceLayout {
  std::vector<PlaneLayout> planes;
  std::vector<std::string_view> hostnames;
  // The file ends in the middle of a message.
  bool truncated = false;
};

// Fails where `file` is not an XSpace at all.
absl::StatusOr<SpaceLayout> ReadLayout(std::string_view file,
                                       const std::string& name,
                                       QualityLog* quality);

// What an XLine says about itself, wherever in it that stands.
struct LineHeader {
  // For a host's line: the thread.
  int64_t id = 0;
  std::string_view name;
  int64_t timestamp_ns = 0;
  uint64_t event_count = 0;

  // Takes the line's field that the reader stands at, or skips it. Throws as
  // protozero does; for use within ForEachField.
  void TakeField(FieldReader* reader);
  // Adds what a later part of the same line says.
  void Include(const LineHeader& later);
};
LineHeader ReadLineHeader(std::string_view line);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_XPLANE_LAYOUT_H_
