#include "converter/benchmarks/synthetic_trace.h"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/bfc/bfc_model.h"
#include "converter/testing/xspace_builder.h"
#include "core/bfc.h"
#include "proto/event_schema.h"
#include "protozero/pbf_writer.hpp"

namespace oom_forensics::benchmarks {
namespace {

using protozero::pbf_writer;

constexpr uint64_t kStartNs = 1'700'000'000'000'000'000;
// As an eager op takes.
constexpr int64_t kEventPs = 4'000'000;

// Sizes of requests, each twice the one before.
constexpr uint64_t kSmallestBytes = 64;
constexpr uint32_t kSizes = 14;

uint64_t RequestedBytes(uint32_t op) { return kSmallestBytes << (op % kSizes); }

// An op that got chunks of this size, as the collector tells them apart.
struct Site {
  uint32_t op = 0;
  uint64_t requested_bytes = 0;
  uint64_t allocated_bytes = 0;
};

// Numbers of metadata in the plane.
enum MetadataId : int64_t { kFreeId = 1, kRegionId = 2, kFirstSiteId = 3 };
enum StatId : int64_t {
  kAddressStat = 1,
  kSizeStat,
  kStepIdStat,
  kOpStat,
  kDtypeStat,
  kRequestedStat,
  kAllocatedStat,
  kShapeStat,
  kLimitStat,
  kCompleteStat,
  kFirstTextStat,
};

std::string UintStat(int64_t id, uint64_t value) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(schema::xstat::kMetadataId, id);
  writer.add_uint64(schema::xstat::kUint64Value, value);
  return bytes;
}

std::string RefStat(int64_t id, int64_t text) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(schema::xstat::kMetadataId, id);
  writer.add_uint64(schema::xstat::kRefValue, static_cast<uint64_t>(text));
  return bytes;
}

void AddMapEntry(pbf_writer* plane, uint32_t field, int64_t id,
                 const std::string& value) {
  pbf_writer entry(*plane, field);
  entry.add_int64(schema::map_entry::kKey, id);
  entry.add_bytes(schema::map_entry::kValue, value);
}

std::string EventMetadata(int64_t id, std::string_view name,
                          const std::vector<std::string>& stats) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_int64(schema::xevent_metadata::kId, id);
  writer.add_string(schema::xevent_metadata::kName, std::string(name));
  for (const std::string& stat : stats) {
    writer.add_bytes(schema::xevent_metadata::kStats, stat);
  }
  return bytes;
}

// The line of events, written as it is made.
class EventLine {
 public:
  EventLine() : writer_(bytes_) {
    writer_.add_string(schema::xline::kName, std::string(schema::kEventsLine));
    writer_.add_int64(schema::xline::kTimestampNs, 0);
  }

  void Add(int64_t metadata_id, const std::vector<std::string>& stats) {
    now_ps_ += kEventPs;
    pbf_writer event(writer_, schema::xline::kEvents);
    event.add_int64(schema::xevent::kMetadataId, metadata_id);
    event.add_int64(schema::xevent::kOffsetPs, now_ps_);
    for (const std::string& stat : stats) {
      event.add_bytes(schema::xevent::kStats, stat);
    }
  }

  int64_t now_ps() const { return now_ps_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  pbf_writer writer_;
  int64_t now_ps_ = 0;
};

struct SyntheticLine {
  std::string bytes;
  std::vector<test::Event> steps;
  // The sites of the event metadata from kFirstSiteId on; the last one failed.
  std::vector<Site> sites;
  uint64_t pool_bytes = 0;
};

// Requests and releases, served by a pool that has room for half as much again
// as is live on average, and one request more than is free in one piece.
SyntheticLine MakeLine(const SyntheticTraceOptions& options) {
  std::mt19937_64 random(options.seed);
  SyntheticLine line;
  const uint64_t average_bytes = ((kSmallestBytes << kSizes) / kSizes);
  line.pool_bytes = RoundedBytes(options.live * average_bytes * 3 / 2);
  BfcSettings settings;
  settings.limit_bytes = line.pool_bytes;
  settings.allow_growth = false;
  BfcModel pool(settings);
  std::map<std::pair<uint32_t, uint64_t>, int64_t> ids;
  EventLine events;
  std::vector<ChunkId> live;
  int64_t step_begin_ps = events.now_ps();
  int64_t step = 0;
  for (uint64_t i = 0; i < options.events; ++i) {
    const bool wants = live.size() < options.live
                           ? random() % 4 != 0 || live.empty()
                           : random() % 4 == 0;
    const auto op = static_cast<uint32_t>(random() % options.sites);
    const ChunkId chunk = wants ? pool.Allocate(RequestedBytes(op)) : kNoChunk;
    if (i == 0) {
      const BfcRegion region = pool.Regions().front();
      events.Add(kRegionId, {UintStat(kAddressStat, region.address),
                             UintStat(kSizeStat, region.size_bytes)});
    }
    if (chunk != kNoChunk) {
      const PoolChunk& place = pool.chunk(chunk);
      const auto [id, is_new] =
          ids.try_emplace({op, place.size_bytes},
                          kFirstSiteId + static_cast<int64_t>(ids.size()));
      if (is_new) {
        line.sites.push_back({op, RequestedBytes(op), place.size_bytes});
      }
      live.push_back(chunk);
      events.Add(id->second, {UintStat(kAddressStat, place.address)});
    } else {
      // Mostly the young die.
      const size_t back = live.size() < 64 ? live.size() : 64;
      const size_t victim = random() % 10 == 0
                                ? random() % live.size()
                                : live.size() - 1 - random() % back;
      std::swap(live[victim], live.back());
      const uint64_t address = pool.chunk(live.back()).address;
      pool.Free(live.back());
      live.pop_back();
      events.Add(kFreeId, {UintStat(kAddressStat, address)});
    }
    if ((i + 1) % options.events_per_step == 0) {
      line.steps.push_back({1,
                            step_begin_ps,
                            events.now_ps() - step_begin_ps,
                            {test::I64("step_num", step++)}});
      step_begin_ps = events.now_ps() + 1;
    }
  }
  events.Add(kFirstSiteId + static_cast<int64_t>(line.sites.size()),
             {UintStat(kLimitStat, line.pool_bytes)});
  const uint64_t refused_bytes = pool.largest_free_bytes() + 1;
  line.sites.push_back(
      {options.sites, refused_bytes, RoundedBytes(refused_bytes)});
  line.bytes = events.bytes();
  return line;
}

std::string MakePlane(const SyntheticLine& line) {
  std::string bytes;
  bytes.reserve(line.bytes.size() + (1 << 20));
  pbf_writer plane(bytes);
  plane.add_string(schema::xplane::kName, "/oom_forensics:synthetic#0");
  plane.add_bytes(schema::xplane::kLines, line.bytes);
  const auto event_metadata = [&](int64_t id, std::string_view name,
                                  const std::vector<std::string>& stats) {
    AddMapEntry(&plane, schema::xplane::kEventMetadata, id,
                EventMetadata(id, name, stats));
  };
  const auto stat_metadata = [&](int64_t id, const std::string& name) {
    std::string metadata;
    pbf_writer writer(metadata);
    writer.add_int64(schema::xstat_metadata::kId, id);
    writer.add_string(schema::xstat_metadata::kName, name);
    AddMapEntry(&plane, schema::xplane::kStatMetadata, id, metadata);
  };
  event_metadata(kFreeId, schema::kFree, {});
  event_metadata(kRegionId, schema::kRegionAdd, {});
  int64_t id = kFirstSiteId;
  int64_t text = kFirstTextStat;
  for (const Site& site : line.sites) {
    stat_metadata(
        text, absl::StrCat("StatefulPartitionedCall/model/block_", site.op / 10,
                           "/layer_", site.op % 10, "/Op_", site.op));
    stat_metadata(text + 1, absl::StrCat("[", site.requested_bytes / 4, "]"));
    event_metadata(
        id++, &site == &line.sites.back() ? schema::kFailed : schema::kAlloc,
        {RefStat(kOpStat, text), RefStat(kShapeStat, text + 1),
         UintStat(kDtypeStat, 1),
         UintStat(kRequestedStat, site.requested_bytes),
         UintStat(kAllocatedStat, site.allocated_bytes)});
    text += 2;
  }
  const std::pair<int64_t, std::string_view> names[] = {
      {kAddressStat, schema::kAddress},
      {kSizeStat, schema::kSizeBytes},
      {kStepIdStat, schema::kStepId},
      {kOpStat, schema::kOp},
      {kDtypeStat, schema::kDtype},
      {kRequestedStat, schema::kRequestedBytes},
      {kAllocatedStat, schema::kAllocatedBytes},
      {kShapeStat, schema::kShape},
      {kLimitStat, schema::kBytesLimit},
      {kCompleteStat, schema::kBaselineComplete},
  };
  for (const auto& [id, name] : names) stat_metadata(id, std::string(name));
  plane.add_bytes(schema::xplane::kStats, UintStat(kCompleteStat, 1));
  plane.add_bytes(schema::xplane::kStats,
                  UintStat(kLimitStat, line.pool_bytes));
  return bytes;
}

}  // namespace

std::string MakeSyntheticTrace(const SyntheticTraceOptions& options) {
  const SyntheticLine line = MakeLine(options);
  test::PlaneBuilder session(schema::kSessionPlane);
  session.AddStat(test::U64(schema::kVersion, schema::kSchemaVersion));
  test::PlaneBuilder host("/host:CPU");
  host.AddEventMetadata("train");
  host.AddLine({1, "python", 0, line.steps});
  return test::SerializeSpace({MakePlane(line), session.Serialize(),
                               host.Serialize(),
                               test::TaskEnvironmentPlane(kStartNs, 0)});
}

}  // namespace oom_forensics::benchmarks
