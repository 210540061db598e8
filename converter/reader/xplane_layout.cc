#include "converter/reader/xplane_layout.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// RFC 1952, 2.3.1.
constexpr std::string_view kGzipBegins = "\x1f\x8b";

// Reads map<int64, Message>: calls `on_entry(key, value)`.
template <typename OnEntry>
bool ReadMapEntry(std::string_view entry, OnEntry on_entry) {
  int64_t key = 0;
  std::string_view value;
  const bool whole = ForEachField(entry, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::map_entry::kKey:
        key = reader.get_int64();
        break;
      case schema::map_entry::kValue:
        value = View(reader.get_view());
        break;
      default:
        reader.skip();
    }
  });
  if (whole) on_entry(key, value);
  return whole;
}

PlaneLayout ReadPlane(std::string_view plane, bool cut, QualityLog* quality) {
  PlaneLayout layout;
  const bool whole = ForEachField(plane, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xplane::kName:
        layout.name = View(reader.get_view());
        break;
      case schema::xplane::kLines: {
        bool line_cut = false;
        layout.lines.push_back(ViewOrRest(&reader, &line_cut));
        if (line_cut) throw protozero::end_of_buffer_exception();
        break;
      }
      case schema::xplane::kStats:
        layout.stats.push_back(View(reader.get_view()));
        break;
      case schema::xplane::kEventMetadata:
        if (!ReadMapEntry(View(reader.get_view()),
                          [&](int64_t id, std::string_view metadata) {
                            layout.event_metadata.emplace_back(id, metadata);
                          })) {
          quality->Add(QualityCounter::kMalformedMessages);
        }
        break;
      case schema::xplane::kStatMetadata:
        if (!ReadMapEntry(View(reader.get_view()),
                          [&](int64_t id, std::string_view metadata) {
                            layout.stat_names.emplace_back(
                                id, TextField(metadata,
                                              schema::xstat_metadata::kName));
                          })) {
          quality->Add(QualityCounter::kMalformedMessages);
        }
        break;
      default:
        reader.skip();
    }
  });
  if (!whole && !cut) quality->Add(QualityCounter::kMalformedMessages);
  return layout;
}

}  // namespace

absl::StatusOr<SpaceLayout> ReadLayout(std::string_view file,
                                       const std::string& name,
                                       QualityLog* quality) {
  SpaceLayout layout;
  const bool whole = ForEachField(file, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xspace::kPlanes: {
        bool cut = false;
        const std::string_view plane = ViewOrRest(&reader, &cut);
        layout.planes.push_back(ReadPlane(plane, cut, quality));
        if (cut) throw protozero::end_of_buffer_exception();
        break;
      }
      case schema::xspace::kHostnames:
        layout.hostnames.push_back(View(reader.get_view()));
        break;
      default:
        reader.skip();
    }
  });
  bool any_named = false;
  for (const PlaneLayout& plane : layout.planes) {
    any_named |= !plane.name.empty();
  }
  if (!any_named && file.substr(0, kGzipBegins.size()) == kGzipBegins) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        " is packed by gzip: unpack it first (gunzip), or open it in the "
        "page that `oom-forensics viewer` writes."));
  }
  if (!any_named) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        " is not a profiler trace (an .xplane.pb), or is cut off before its "
        "first plane."));
  }
  layout.truncated = !whole;
  return layout;
}

void LineHeader::TakeField(FieldReader* reader) {
  switch (reader->tag()) {
    case schema::xline::kId:
      id = reader->get_int64();
      break;
    case schema::xline::kName:
      name = View(reader->get_view());
      break;
    case schema::xline::kTimestampNs:
      timestamp_ns = reader->get_int64();
      break;
    case schema::xline::kEvents:
      ++event_count;
      reader->skip();
      break;
    default:
      reader->skip();
  }
}

void LineHeader::Include(const LineHeader& later) {
  if (later.id != 0) id = later.id;
  if (!later.name.empty()) name = later.name;
  if (later.timestamp_ns != 0) timestamp_ns = later.timestamp_ns;
  event_count += later.event_count;
}

LineHeader ReadLineHeader(std::string_view line) {
  LineHeader header;
  ForEachField(line,
               [&header](FieldReader& reader) { header.TakeField(&reader); });
  return header;
}

}  // namespace oom_forensics
