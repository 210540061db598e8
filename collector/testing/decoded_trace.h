// A trace as the collector writes it, decoded: for tests that say what stands
// in it.
#ifndef OOM_FORENSICS_COLLECTOR_TESTING_DECODED_TRACE_H_
#define OOM_FORENSICS_COLLECTOR_TESTING_DECODED_TRACE_H_

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/event_schema.h"

namespace oom_forensics::collector {

// The planes of a trace, decoded by the field numbers of xplane.proto.
struct Stats : std::map<std::string, std::string> {
  std::string operator[](std::string_view name) const {
    const auto found = find(std::string(name));
    return found == end() ? "(none)" : found->second;
  }
};
struct DecodedEvent {
  std::string kind;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  Stats site;
  Stats stats;
};
struct DecodedLine {
  int64_t timestamp_ns = 0;
  std::vector<DecodedEvent> events;
};
struct DecodedPlane {
  Stats stats;
  std::map<std::string, DecodedLine> lines;
};

class PlaneDecoder {
 public:
  explicit PlaneDecoder(protozero::pbf_reader plane) : plane_(plane) {
    ForEach(schema::xplane::kStatMetadata, [&](protozero::pbf_reader entry) {
      protozero::pbf_reader metadata = Value(entry);
      const auto [id, name] = IdAndName(metadata);
      names_[id] = name;
    });
    ForEach(schema::xplane::kEventMetadata, [&](protozero::pbf_reader entry) {
      protozero::pbf_reader metadata = Value(entry);
      DecodedEvent event;
      int64_t id = 0;
      while (metadata.next()) {
        if (metadata.tag() == schema::xevent_metadata::kId) {
          id = metadata.get_int64();
        } else if (metadata.tag() == schema::xevent_metadata::kName) {
          event.kind = metadata.get_string();
        } else if (metadata.tag() == schema::xevent_metadata::kStats) {
          AddStat(metadata.get_message(), &event.site);
        } else {
          metadata.skip();
        }
      }
      metadata_[id] = event;
    });
  }

  DecodedPlane Decode() {
    DecodedPlane decoded;
    ForEach(schema::xplane::kStats,
            [&](protozero::pbf_reader stat) { AddStat(stat, &decoded.stats); });
    ForEach(schema::xplane::kLines, [&](protozero::pbf_reader line) {
      DecodedLine decoded_line;
      std::string name;
      while (line.next()) {
        if (line.tag() == schema::xline::kName) {
          name = line.get_string();
        } else if (line.tag() == schema::xline::kTimestampNs) {
          decoded_line.timestamp_ns = line.get_int64();
        } else if (line.tag() == schema::xline::kEvents) {
          decoded_line.events.push_back(DecodeEvent(line.get_message()));
        } else {
          line.skip();
        }
      }
      decoded.lines[name] = decoded_line;
    });
    return decoded;
  }

 private:
  template <typename Visit>
  void ForEach(uint32_t field, Visit visit) {
    protozero::pbf_reader reader = plane_;
    while (reader.next(field)) visit(reader.get_message());
  }

  static protozero::pbf_reader Value(protozero::pbf_reader entry) {
    return entry.next(schema::map_entry::kValue) ? entry.get_message()
                                                 : protozero::pbf_reader();
  }

  static std::pair<int64_t, std::string> IdAndName(
      protozero::pbf_reader metadata) {
    std::pair<int64_t, std::string> result;
    while (metadata.next()) {
      if (metadata.tag() == schema::xstat_metadata::kId) {
        result.first = metadata.get_int64();
      } else if (metadata.tag() == schema::xstat_metadata::kName) {
        result.second = metadata.get_string();
      } else {
        metadata.skip();
      }
    }
    return result;
  }

  void AddStat(protozero::pbf_reader stat, Stats* stats) {
    std::string name;
    std::string value;
    while (stat.next()) {
      switch (stat.tag()) {
        case schema::xstat::kMetadataId:
          name = names_[stat.get_int64()];
          break;
        case schema::xstat::kUint64Value:
          value = std::to_string(stat.get_uint64());
          break;
        case schema::xstat::kInt64Value:
          value = std::to_string(stat.get_int64());
          break;
        case schema::xstat::kDoubleValue:
          value = std::to_string(stat.get_double());
          break;
        case schema::xstat::kRefValue:
          value = names_[static_cast<int64_t>(stat.get_uint64())];
          break;
        default:
          value = stat.get_string();
      }
    }
    stats->emplace(name, value);
  }

  DecodedEvent DecodeEvent(protozero::pbf_reader event) {
    DecodedEvent decoded;
    while (event.next()) {
      switch (event.tag()) {
        case schema::xevent::kMetadataId:
          decoded = metadata_[event.get_int64()];
          break;
        case schema::xevent::kOffsetPs:
          decoded.offset_ps = event.get_int64();
          break;
        case schema::xevent::kDurationPs:
          decoded.duration_ps = event.get_int64();
          break;
        default:
          AddStat(event.get_message(), &decoded.stats);
      }
    }
    return decoded;
  }

  protozero::pbf_reader plane_;
  std::map<int64_t, std::string> names_;
  std::map<int64_t, DecodedEvent> metadata_;
};

// The planes of a serialised XSpace by their names.
inline std::map<std::string, DecodedPlane> DecodeTrace(
    const std::string& trace) {
  std::map<std::string, DecodedPlane> planes;
  protozero::pbf_reader reader(trace);
  while (reader.next(schema::xspace::kPlanes)) {
    const protozero::pbf_reader plane = reader.get_message();
    protozero::pbf_reader name = plane;
    name.next(schema::xplane::kName);
    planes[name.get_string()] = PlaneDecoder(plane).Decode();
  }
  return planes;
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TESTING_DECODED_TRACE_H_
