#include "collector/trace/modules_plane.h"

#include <map>
#include <protozero/pbf_reader.hpp>

#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

using protozero::pbf_reader;

// What a reader finds in the plane.
struct Plane {
  std::string name;
  // By program id: the name, and how many bytes the module has.
  std::map<int64_t, std::pair<std::string, size_t>> modules;
  // By program id; of those that say it.
  std::map<int64_t, uint64_t> compile_ns;
  std::map<std::string, uint64_t> counts;
  std::string why_left_out;
};

Plane Read(const std::string& space) {
  Plane result;
  pbf_reader planes(space);
  EXPECT_TRUE(planes.next(schema::xspace::kPlanes));
  const auto bytes = planes.get_view();
  std::map<uint64_t, std::string> stat_names;
  for (pbf_reader plane(bytes); plane.next(schema::xplane::kStatMetadata);) {
    pbf_reader entry = plane.get_message();
    entry.next(schema::map_entry::kValue);
    pbf_reader metadata = entry.get_message();
    uint64_t id = 0;
    while (metadata.next()) {
      if (metadata.tag() == schema::xstat_metadata::kId) {
        id = metadata.get_uint64();
      } else {
        stat_names[id] = metadata.get_string();
      }
    }
  }
  for (pbf_reader plane(bytes); plane.next();) {
    if (plane.tag() == schema::xplane::kName) {
      result.name = plane.get_string();
    } else if (plane.tag() == schema::xplane::kEventMetadata) {
      pbf_reader entry = plane.get_message();
      entry.next(schema::map_entry::kKey);
      const int64_t key = entry.get_int64();
      entry.next(schema::map_entry::kValue);
      pbf_reader metadata = entry.get_message();
      while (metadata.next()) {
        if (metadata.tag() == schema::xevent_metadata::kName) {
          result.modules[key].first = metadata.get_string();
        } else if (metadata.tag() == schema::xevent_metadata::kStats) {
          pbf_reader stat = metadata.get_message();
          stat.next(schema::xstat::kMetadataId);
          const std::string name = stat_names[stat.get_uint64()];
          if (name == schema::kCompileNs) {
            stat.next(schema::xstat::kUint64Value);
            result.compile_ns[key] = stat.get_uint64();
            continue;
          }
          EXPECT_EQ(name, schema::kHloProto);
          stat.next(schema::xstat::kBytesValue);
          result.modules[key].second = stat.get_view().size();
        } else {
          metadata.skip();
        }
      }
    } else if (plane.tag() == schema::xplane::kStats) {
      pbf_reader stat = plane.get_message();
      stat.next(schema::xstat::kMetadataId);
      const std::string name = stat_names[stat.get_uint64()];
      stat.next();
      if (stat.tag() == schema::xstat::kUint64Value) {
        result.counts[name] = stat.get_uint64();
      } else {
        result.why_left_out = stat.get_string();
      }
    } else {
      plane.skip();
    }
  }
  return result;
}

ModuleProto Module(int64_t program, size_t bytes) {
  return {program, "f", std::string(bytes, 'x')};
}

TEST(ModulesPlane, HoldsAllThatFit) {
  const Plane plane =
      Read(WriteModulesPlane({7}, {Module(0, 10), Module(7, 20)}, 100, ""));
  EXPECT_EQ(plane.name, "/host:metadata");
  EXPECT_EQ(plane.modules.at(0), std::pair(std::string("f(0)"), size_t{10}));
  EXPECT_EQ(plane.modules.at(7), std::pair(std::string("f(7)"), size_t{20}));
  EXPECT_EQ(plane.counts.at("modules_left_out"), 0u);
}

TEST(ModulesPlane, SaysHowLongAModuleTookToCompileWhereThatWasSeen) {
  ModuleProto seen = Module(7, 20);
  seen.compile_ns = 1500;
  const Plane plane =
      Read(WriteModulesPlane({7}, {Module(0, 10), seen}, 100, ""));
  EXPECT_EQ(plane.compile_ns, (std::map<int64_t, uint64_t>{{7, 1500}}));
}

TEST(ModulesPlane, HoldsFirstWhatIsMissedMostAndCountsTheRest) {
  const Plane plane = Read(WriteModulesPlane(
      {2, 1}, {Module(0, 10), Module(1, 60), Module(2, 50)}, 70, ""));
  EXPECT_EQ(plane.modules.count(2), 1u);
  EXPECT_EQ(plane.modules.count(1), 0u);
  EXPECT_EQ(plane.modules.count(0), 1u);
  EXPECT_EQ(plane.counts.at("modules_left_out"), 1u);
  EXPECT_EQ(plane.counts.at("modules_left_out_bytes"), 60u);
  EXPECT_EQ(plane.why_left_out,
            "together they are larger than max_module_bytes, 70");
}

TEST(ModulesPlane, CountsWhatCouldNotBeRead) {
  const Plane plane = Read(WriteModulesPlane({3, 4}, {}, 100, "no"));
  EXPECT_TRUE(plane.modules.empty());
  EXPECT_EQ(plane.counts.at("modules_left_out"), 2u);
  EXPECT_EQ(plane.why_left_out, "no");
}

TEST(ModulesPlane, IsNotThereWithoutXla) {
  EXPECT_EQ(WriteModulesPlane({}, {}, 100, ""), "");
}

// Sites 1, 2, 3 are of the programs 10, 20, 30; site 4 is of none.
class ProgramsByNeedTest : public ::testing::Test {
 protected:
  ProgramsByNeedTest() {
    for (SiteId id = 1; id <= 4; ++id) {
      Site& site = storage_[id - 1];
      site.id = id;
      site.key.allocated_bytes = 1000 * id;
      if (id < 4) site.key.compiled.program_id = 10 * int64_t{id};
      sites_.push_back(&site);
    }
  }

  void Happened(RecordedKind kind, SiteId site, uint64_t address) {
    Event event;
    event.kind = kind;
    event.site = site;
    event.address = address;
    recording_.events.push_back(event);
  }

  Site storage_[4];
  std::vector<const Site*> sites_;
  Recording recording_;
};

TEST_F(ProgramsByNeedTest, RefusedThenLiveThenGone) {
  Happened(RecordedKind::kAlloc, 3, 0x100);
  Happened(RecordedKind::kFree, 3, 0x100);
  Happened(RecordedKind::kAlloc, 2, 0x200);
  Happened(RecordedKind::kAlloc, 4, 0x300);
  Happened(RecordedKind::kFailed, 1, 0);
  EXPECT_EQ(ProgramsByNeed(recording_, sites_),
            (std::vector<int64_t>{10, 20, 30}));
}

TEST_F(ProgramsByNeedTest, TheLargestLiveFirst) {
  LiveAllocation before;
  before.address = 0x100;
  before.site = 1;
  recording_.baseline.allocations.push_back(before);
  Happened(RecordedKind::kAlloc, 2, 0x200);
  EXPECT_EQ(ProgramsByNeed(recording_, sites_), (std::vector<int64_t>{20, 10}));
}

}  // namespace
}  // namespace oom_forensics::collector
