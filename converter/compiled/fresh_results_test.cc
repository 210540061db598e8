#include "converter/compiled/fresh_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace oom_forensics {
namespace {

// A trace in which one thread runs one module, whose results beyond its plan
// have the given sizes.
class OneRun {
 public:
  explicit OneRun(std::initializer_list<uint64_t> results) {
    CompiledModule& module = trace_.modules.emplace_back();
    for (const uint64_t bytes : results) {
      CompiledAllocation& result = module.fresh_results.emplace_back();
      result.index = static_cast<int64_t>(module.fresh_results.size());
      result.kind = BufferKind::kOutput;
      result.size_bytes = bytes;
    }
    allocator_.contexts = std::vector<EventContext>(1);
  }

  void AskBeyondThePlan(uint64_t bytes) { Ask(bytes, RequestMatch::kNone); }
  void AskOfThePlan(uint64_t bytes) { Ask(bytes, RequestMatch::kRecorded); }

  // Which result each request was, in their order.
  struct Match {
    int32_t result;
    bool others_fit;
    bool operator==(const Match& other) const {
      return result == other.result && others_fit == other.others_fit;
    }
  };
  std::vector<Match> Matches() {
    allocator_.kind_of = std::vector<RowKind>(sites_.size(), RowKind::kAlloc);
    allocator_.context = std::vector<uint32_t>(sites_.size());
    allocator_.site = sites_;
    std::vector<RowMatch> rows = MatchFreshResults(trace_, allocator_);
    std::sort(
        rows.begin(), rows.end(),
        [](const RowMatch& a, const RowMatch& b) { return a.row < b.row; });
    std::vector<Match> matches;
    for (const RowMatch& row : rows) {
      matches.push_back({row.request.fresh_result, row.request.others_fit});
    }
    return matches;
  }

 private:
  void Ask(uint64_t bytes, RequestMatch match) {
    CompiledRequest request;
    request.module = 0;
    request.has_kind = true;
    request.kind = BufferKind::kOutput;
    request.match = match;
    AllocationSite site;
    site.compiled = trace_.compiled_requests.Intern(request);
    site.requested_bytes = bytes;
    sites_.push_back(trace_.sites.Intern(site));
  }

  HostTrace trace_;
  AllocatorTrace allocator_;
  std::vector<SiteId> sites_;
};

using Matches = std::vector<OneRun::Match>;

TEST(FreshResultsTest, ARunThatAsksForAllIsMatchedExactly) {
  OneRun run({1024, 1024, 4, 2048, 1024});
  for (const uint64_t bytes : {1024, 1024, 4, 2048, 1024}) {
    run.AskBeyondThePlan(bytes);
  }
  EXPECT_EQ(
      run.Matches(),
      (Matches{{0, false}, {1, false}, {2, false}, {3, false}, {4, false}}));
}

TEST(FreshResultsTest, OrderTellsWhatSizesDoNot) {
  // The weight was given away, its two slots were not.
  OneRun run({1024, 4, 1024, 1024});
  run.AskBeyondThePlan(4);
  run.AskBeyondThePlan(1024);
  run.AskBeyondThePlan(1024);
  EXPECT_EQ(run.Matches(), (Matches{{1, false}, {2, false}, {3, false}}));
}

TEST(FreshResultsTest, WhereOthersFitTooItIsTheFirstAndItSaysSo) {
  OneRun run({1024, 1024, 4});
  run.AskBeyondThePlan(1024);
  run.AskBeyondThePlan(4);
  EXPECT_EQ(run.Matches(), (Matches{{0, true}, {2, false}}));
}

TEST(FreshResultsTest, WhatIsPlannedBeginsANewRun) {
  OneRun run({1024, 1024});
  run.AskBeyondThePlan(1024);
  run.AskBeyondThePlan(1024);
  run.AskOfThePlan(1024);
  run.AskBeyondThePlan(1024);
  run.AskBeyondThePlan(1024);
  EXPECT_EQ(run.Matches(),
            (Matches{{0, false}, {1, false}, {0, false}, {1, false}}));
}

TEST(FreshResultsTest, ASizeThatNoResultHasStaysUnmatched) {
  OneRun run({1024});
  run.AskBeyondThePlan(512);
  EXPECT_TRUE(run.Matches().empty());
}

}  // namespace
}  // namespace oom_forensics
