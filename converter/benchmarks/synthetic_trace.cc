#include "converter/benchmarks/synthetic_trace.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/testing/xspace_builder.h"
#include "core/bfc.h"
#include "proto/event_schema.h"
#include "protozero/pbf_writer.hpp"

namespace oom_forensics::benchmarks {
namespace {

using protozero::pbf_writer;

constexpr uint64_t kPool = uint64_t{0x7f0000000000};
constexpr uint64_t kStartNs = 1'700'000'000'000'000'000;
// Larger than any hole that is left.
constexpr uint64_t kFailedRequestBytes = uint64_t{64} << 20;
// As an eager op takes.
constexpr int64_t kEventPs = 4'000'000;

struct SizeClass {
  uint64_t allocated_bytes = 0;
  // Addresses given back, to be used again.
  std::vector<uint64_t> free;
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
  // From the pool's first byte to the last that was ever used.
  uint64_t used_bytes = 0;
};

// The line of a pool of that size; 0: of one that is larger than can be needed.
SyntheticLine MakeLine(const SyntheticTraceOptions& options,
                       uint64_t pool_bytes) {
  std::mt19937_64 random(options.seed);
  std::vector<SizeClass> classes(options.sites);
  for (uint32_t i = 0; i < options.sites; ++i) {
    classes[i].allocated_bytes = RoundedBytes(uint64_t{64} << (i % 14));
  }
  SyntheticLine line;
  EventLine events;
  if (pool_bytes == 0) pool_bytes = (options.live + options.sites) << 20;
  events.Add(kRegionId,
             {UintStat(kAddressStat, kPool), UintStat(kSizeStat, pool_bytes)});
  uint64_t top = kPool;
  std::vector<std::pair<uint64_t, uint32_t>> live;
  int64_t step_begin_ps = events.now_ps();
  int64_t step = 0;
  for (uint64_t i = 0; i < options.events; ++i) {
    const bool alloc = live.size() < options.live
                           ? random() % 4 != 0 || live.empty()
                           : random() % 4 == 0;
    if (alloc) {
      const auto site = static_cast<uint32_t>(random() % options.sites);
      SizeClass& size = classes[site];
      uint64_t address = top;
      if (size.free.empty()) {
        top += size.allocated_bytes;
      } else {
        address = size.free.back();
        size.free.pop_back();
      }
      live.emplace_back(address, site);
      events.Add(kFirstSiteId + site, {UintStat(kAddressStat, address)});
    } else {
      // Mostly the young die.
      const size_t back = live.size() < 64 ? live.size() : 64;
      const size_t victim = random() % 10 == 0
                                ? random() % live.size()
                                : live.size() - 1 - random() % back;
      std::swap(live[victim], live.back());
      const auto [address, site] = live.back();
      live.pop_back();
      classes[site].free.push_back(address);
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
  events.Add(kFirstSiteId + options.sites, {UintStat(kLimitStat, pool_bytes)});
  line.bytes = events.bytes();
  line.used_bytes = top - kPool;
  return line;
}

std::string MakePlane(const SyntheticTraceOptions& options,
                      const SyntheticLine& line, uint64_t pool_bytes) {
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
  const auto site_stats = [&](uint32_t i, uint64_t requested) {
    const int64_t text = kFirstTextStat + 2 * int64_t{i};
    stat_metadata(text, absl::StrCat("StatefulPartitionedCall/model/block_",
                                     i / 10, "/layer_", i % 10, "/Op_", i));
    stat_metadata(text + 1, absl::StrCat("[", requested / 4, "]"));
    return std::vector<std::string>{
        RefStat(kOpStat, text), RefStat(kShapeStat, text + 1),
        UintStat(kDtypeStat, 1), UintStat(kRequestedStat, requested),
        UintStat(kAllocatedStat, RoundedBytes(requested))};
  };
  for (uint32_t i = 0; i < options.sites; ++i) {
    event_metadata(kFirstSiteId + i, schema::kAlloc,
                   site_stats(i, uint64_t{64} << (i % 14)));
  }
  event_metadata(kFirstSiteId + options.sites, schema::kFailed,
                 site_stats(options.sites, kFailedRequestBytes));
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
  plane.add_bytes(schema::xplane::kStats, UintStat(kLimitStat, pool_bytes));
  return bytes;
}

}  // namespace

std::string MakeSyntheticTrace(const SyntheticTraceOptions& options) {
  // The pool is as large as it must be, so that little is free at the end.
  const uint64_t pool_bytes = MakeLine(options, 0).used_bytes;
  const SyntheticLine line = MakeLine(options, pool_bytes);
  test::PlaneBuilder session(schema::kSessionPlane);
  session.AddStat(test::U64(schema::kVersion, schema::kSchemaVersion));
  test::PlaneBuilder host("/host:CPU");
  host.AddEventMetadata("train");
  host.AddLine({1, "python", 0, line.steps});
  return test::SerializeSpace({MakePlane(options, line, pool_bytes),
                               session.Serialize(), host.Serialize(),
                               test::TaskEnvironmentPlane(kStartNs, 0)});
}

}  // namespace oom_forensics::benchmarks
