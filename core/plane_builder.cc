#include "core/plane_builder.h"

#include "core/line_builder.h"
#include "core/text_field.h"
#include "proto/event_schema.h"

namespace oom_forensics {

using protozero::pbf_writer;

namespace {

// An XStat of which the caller writes the value.
template <typename WriteValue>
void AddStat(pbf_writer* message, uint32_t field, int64_t id,
             WriteValue write_value) {
  pbf_writer stat(*message, field);
  stat.add_int64(schema::xstat::kMetadataId, id);
  write_value(&stat);
}

}  // namespace

PlaneBuilder::PlaneBuilder(std::string* space, std::string_view name)
    : space_(space),
      space_writer_(*space),
      writer_(space_writer_, schema::xspace::kPlanes),
      event_metadata_writer_(event_metadata_) {
  AddText(&writer_, schema::xplane::kName, name);
}

int64_t PlaneBuilder::StatId(std::string_view text) {
  // Not emplace(), which makes an entry before it looks.
  return stat_ids_.try_emplace(text, static_cast<int64_t>(stat_ids_.size() + 1))
      .first->second;
}

void PlaneBuilder::AddUint(pbf_writer* message, uint32_t field,
                           std::string_view name, uint64_t value) {
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    stat->add_uint64(schema::xstat::kUint64Value, value);
  });
}

void PlaneBuilder::AddInt(pbf_writer* message, uint32_t field,
                          std::string_view name, int64_t value) {
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    stat->add_int64(schema::xstat::kInt64Value, value);
  });
}

void PlaneBuilder::AddDouble(pbf_writer* message, uint32_t field,
                             std::string_view name, double value) {
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    stat->add_double(schema::xstat::kDoubleValue, value);
  });
}

void PlaneBuilder::AddString(pbf_writer* message, uint32_t field,
                             std::string_view name, std::string_view value) {
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    AddText(stat, schema::xstat::kStrValue, value);
  });
}

void PlaneBuilder::AddBytes(pbf_writer* message, uint32_t field,
                            std::string_view name, std::string_view value) {
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    stat->add_bytes(schema::xstat::kBytesValue, View(value));
  });
}

void PlaneBuilder::AddRef(pbf_writer* message, uint32_t field,
                          std::string_view name, std::string_view value) {
  const int64_t value_id = StatId(value);
  AddStat(message, field, StatId(name), [&](pbf_writer* stat) {
    stat->add_uint64(schema::xstat::kRefValue, static_cast<uint64_t>(value_id));
  });
}

int64_t PlaneBuilder::AddEventMetadata(std::string_view fields) {
  const int64_t id = ++event_metadata_count_;
  AddEventMetadataWithId(id, fields);
  return id;
}

void PlaneBuilder::AddEventMetadataWithId(int64_t id, std::string_view fields) {
  std::string metadata;
  pbf_writer metadata_writer(metadata);
  metadata_writer.add_int64(schema::xevent_metadata::kId, id);
  metadata.append(fields);
  pbf_writer entry(event_metadata_writer_, schema::xplane::kEventMetadata);
  entry.add_int64(schema::map_entry::kKey, id);
  entry.add_message(schema::map_entry::kValue, metadata);
}

void PlaneBuilder::Finish() {
  space_->append(event_metadata_);
  for (const auto& [text, id] : stat_ids_) {
    pbf_writer entry(writer_, schema::xplane::kStatMetadata);
    entry.add_int64(schema::map_entry::kKey, id);
    pbf_writer metadata(entry, schema::map_entry::kValue);
    metadata.add_int64(schema::xstat_metadata::kId, id);
    AddText(&metadata, schema::xstat_metadata::kName, text);
  }
  writer_.commit();
}

void WriteTaskEnvironment(int64_t start_ns, int64_t stop_ns,
                          std::string* space) {
  PlaneBuilder plane(space, "Task Environment");
  plane.AddUint(plane.plane(), schema::xplane::kStats, "profile_start_time",
                static_cast<uint64_t>(start_ns));
  plane.AddUint(plane.plane(), schema::xplane::kStats, "profile_stop_time",
                static_cast<uint64_t>(stop_ns));
  plane.Finish();
}

}  // namespace oom_forensics
