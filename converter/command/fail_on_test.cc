#include "converter/command/fail_on.h"

#include <memory>
#include <string>
#include <vector>

#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;

constexpr uint64_t kMib = 1 << 20;

// An allocator of 1 MiB that holds 1 KiB.
TraceBuilder AQuietRun() {
  TraceBuilder trace;
  trace.AllocatorStat(test::U64("bytes_limit", kMib));
  trace.BaselineRegion(0x100000, kMib);
  trace.Step(0);
  trace.Alloc(0x100000, {"op", "[256]", 1, 1024, 0});
  trace.EndStep();
  return trace;
}

std::string FirstMet(TraceBuilder* trace,
                     const std::vector<std::string>& conditions,
                     const Filter& filter = {}) {
  const auto met = FirstMetCondition(conditions, *trace->Open(), filter);
  return met.ok() ? *met : std::string(met.status().message());
}

TEST(FailOn, NothingIsMetByAQuietRun) {
  auto trace = AQuietRun();
  EXPECT_EQ(FirstMet(&trace, {"oom", "probe", "near-limit"}), "");
  EXPECT_EQ(FirstMet(&trace, {}), "");
}

TEST(FailOn, AnOomIsNoProbe) {
  auto trace = AQuietRun();
  trace.Fail({"op", "", 1, 4 * kMib, 0}, {true, kMib, ""});
  EXPECT_EQ(FirstMet(&trace, {"probe"}), "");
  EXPECT_EQ(FirstMet(&trace, {"probe", "oom"}), "oom");
}

TEST(FailOn, AProbeIsNoOom) {
  auto trace = AQuietRun();
  trace.Fail({"op", "", 1, 4 * kMib, 0}, {false, kMib, ""});
  EXPECT_EQ(FirstMet(&trace, {"oom"}), "");
  EXPECT_EQ(FirstMet(&trace, {"oom", "probe"}), "probe");
}

TEST(FailOn, LeakIsASiteThatGrowsStepByStep) {
  auto cache = AQuietRun();
  auto leak = AQuietRun();
  for (uint64_t step = 1; step <= 16; ++step) {
    cache.Step(static_cast<int64_t>(step));
    leak.Step(static_cast<int64_t>(step));
    // Both make a tensor in each step; one of them keeps it.
    const uint64_t address = 0x110000 + step * 8192;
    cache.Alloc(address, {"op", "[2048]", 1, 8192, 0}).Free(address);
    leak.Alloc(address, {"op", "[2048]", 1, 8192, 0});
  }
  EXPECT_EQ(FirstMet(&cache.EndStep(), {"leak"}), "");
  EXPECT_EQ(FirstMet(&leak.EndStep(), {"oom", "leak"}), "leak");
}

TEST(FailOn, NearLimitIsAPeakOfNinetyFivePercent) {
  auto below = AQuietRun();
  below.Alloc(0x110000, {"op", "", 1, kMib * 94 / 100 - 1024, 0});
  EXPECT_EQ(FirstMet(&below, {"near-limit"}), "");
  auto above = AQuietRun();
  above.Alloc(0x110000, {"op", "", 1, kMib * 95 / 100, 0});
  EXPECT_EQ(FirstMet(&above, {"near-limit"}), "near-limit");
}

TEST(FailOn, LostIsWhatMakesNumbersWrong) {
  auto trace = AQuietRun();
  trace.AllocatorStat(test::U64("dropped_events", 7));
  EXPECT_EQ(FirstMet(&trace, {"lost"}), "lost");
}

TEST(FailOn, LooksAtWhatTheFilterKeeps) {
  auto trace = AQuietRun();
  trace.Fail({"op", "", 1, 4 * kMib, 0}, {true, kMib, ""});
  Filter filter;
  filter.set_allocator("another#0");
  EXPECT_NE(FirstMet(&trace, {"oom"}, filter).find("no allocator another#0"),
            std::string::npos);
}

TEST(FailOn, RefusesAConditionThatItDoesNotKnow) {
  EXPECT_TRUE(CheckFailConditions({"oom", "leak", "lost"}).ok());
  const absl::Status refused = CheckFailConditions({"oom", "rain"});
  EXPECT_NE(refused.message().find("\"rain\" is not one of oom"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace oom_forensics
