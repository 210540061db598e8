#include "converter/testing/xspace_builder.h"

#include "proto/event_schema.h"
#include "protozero/pbf_writer.hpp"

namespace oom_forensics::test {
namespace {

using protozero::pbf_writer;

std::string MapEntry(int64_t key, const std::string& value) {
  std::string entry;
  pbf_writer writer(entry);
  writer.add_int64(schema::map_entry::kKey, key);
  writer.add_bytes(schema::map_entry::kValue, value);
  return entry;
}

}  // namespace

Stat U64(std::string_view name, uint64_t value) {
  return {std::string(name), Stat::Type::kUint64, value, 0, ""};
}
Stat I64(std::string_view name, int64_t value) {
  return {std::string(name), Stat::Type::kInt64, static_cast<uint64_t>(value),
          0, ""};
}
Stat Real(std::string_view name, double value) {
  return {std::string(name), Stat::Type::kDouble, 0, value, ""};
}
Stat Text(std::string_view name, std::string_view value) {
  return {std::string(name), Stat::Type::kText, 0, 0, std::string(value)};
}
Stat Ref(std::string_view name, std::string_view value) {
  return {std::string(name), Stat::Type::kRef, 0, 0, std::string(value)};
}

int64_t PlaneBuilder::StatId(const std::string& name) {
  const auto next = static_cast<int64_t>(stat_ids_.size()) + 1;
  return stat_ids_.emplace(name, next).first->second;
}

std::string PlaneBuilder::SerializeStat(const Stat& stat) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(schema::xstat::kMetadataId, StatId(stat.name));
  switch (stat.type) {
    case Stat::Type::kUint64:
      writer.add_uint64(schema::xstat::kUint64Value, stat.number);
      break;
    case Stat::Type::kInt64:
      writer.add_int64(schema::xstat::kInt64Value,
                       static_cast<int64_t>(stat.number));
      break;
    case Stat::Type::kDouble:
      writer.add_double(schema::xstat::kDoubleValue, stat.real);
      break;
    case Stat::Type::kText:
      writer.add_bytes(schema::xstat::kStrValue, stat.text);
      break;
    case Stat::Type::kRef:
      writer.add_uint64(schema::xstat::kRefValue,
                        static_cast<uint64_t>(StatId(stat.text)));
      break;
  }
  return bytes;
}

int64_t PlaneBuilder::AddEventMetadata(std::string_view name,
                                       std::string_view display_name,
                                       const std::vector<Stat>& stats) {
  const auto id = static_cast<int64_t>(event_metadata_.size()) + 1;
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(schema::xevent_metadata::kId, id);
  writer.add_string(schema::xevent_metadata::kName, std::string(name));
  if (!display_name.empty()) {
    writer.add_string(schema::xevent_metadata::kDisplayName,
                      std::string(display_name));
  }
  for (const Stat& stat : stats) {
    writer.add_bytes(schema::xevent_metadata::kStats, SerializeStat(stat));
  }
  event_metadata_.push_back(bytes);
  return id;
}

std::string PlaneBuilder::SerializeLine(const Line& line, FieldOrder order) {
  std::string bytes;
  pbf_writer writer(bytes);
  const auto write_header = [&] {
    writer.add_int64(schema::xline::kId, line.id);
    writer.add_string(schema::xline::kName, line.name);
    writer.add_int64(schema::xline::kTimestampNs, line.timestamp_ns);
  };
  if (order == FieldOrder::kAsWritten) write_header();
  for (const Event& event : line.events) {
    std::string event_bytes;
    pbf_writer event_writer(event_bytes);
    event_writer.add_int64(schema::xevent::kMetadataId, event.metadata_id);
    event_writer.add_int64(schema::xevent::kOffsetPs, event.offset_ps);
    if (event.duration_ps != 0) {
      event_writer.add_int64(schema::xevent::kDurationPs, event.duration_ps);
    }
    for (const Stat& stat : event.stats) {
      event_writer.add_bytes(schema::xevent::kStats, SerializeStat(stat));
    }
    writer.add_bytes(schema::xline::kEvents, event_bytes);
  }
  if (order == FieldOrder::kReversed) write_header();
  return bytes;
}

std::string PlaneBuilder::Serialize(FieldOrder order) {
  std::vector<std::string> lines;
  for (const Line& line : lines_) lines.push_back(SerializeLine(line, order));
  std::vector<std::string> stats;
  for (const Stat& stat : stats_) stats.push_back(SerializeStat(stat));
  std::string bytes;
  pbf_writer writer(bytes);
  const auto write_lines = [&] {
    for (const std::string& line : lines) {
      writer.add_bytes(schema::xplane::kLines, line);
    }
  };
  if (order == FieldOrder::kAsWritten) {
    writer.add_string(schema::xplane::kName, name_);
    write_lines();
  }
  for (size_t i = 0; i < event_metadata_.size(); ++i) {
    writer.add_bytes(schema::xplane::kEventMetadata,
                     MapEntry(static_cast<int64_t>(i) + 1, event_metadata_[i]));
  }
  for (const auto& [name, id] : stat_ids_) {
    std::string metadata;
    pbf_writer metadata_writer(metadata);
    metadata_writer.add_int64(schema::xstat_metadata::kId, id);
    metadata_writer.add_string(schema::xstat_metadata::kName, name);
    writer.add_bytes(schema::xplane::kStatMetadata, MapEntry(id, metadata));
  }
  for (const std::string& stat : stats) {
    writer.add_bytes(schema::xplane::kStats, stat);
  }
  if (order == FieldOrder::kReversed) {
    write_lines();
    writer.add_string(schema::xplane::kName, name_);
  }
  return bytes;
}

std::string SerializeSpace(const std::vector<std::string>& planes) {
  std::string bytes;
  pbf_writer writer(bytes);
  for (const std::string& plane : planes) {
    writer.add_bytes(schema::xspace::kPlanes, plane);
  }
  return bytes;
}

std::string TaskEnvironmentPlane(uint64_t profile_start_ns,
                                 uint64_t profile_stop_ns) {
  PlaneBuilder plane("Task Environment");
  plane.AddStat(U64("profile_start_time", profile_start_ns));
  plane.AddStat(U64("profile_stop_time", profile_stop_ns));
  return plane.Serialize();
}

}  // namespace oom_forensics::test
