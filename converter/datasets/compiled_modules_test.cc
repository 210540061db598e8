// On a stock profile of a Keras model compiled by XLA, recorded by
// tests/compiled/record_golden.py.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "converter/datasets/dataset.h"
#include "converter/testing/trace_builder.h"
#include "converter/testing/xspace_builder.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr char kTrace[] = "converter/fuzz/corpus/trace/compiled.xplane.pb";

class CompiledModulesTest : public ::testing::Test {
 protected:
  CompiledModulesTest() {
    std::ifstream file(kTrace, std::ios::binary);
    bytes_ = {std::istreambuf_iterator<char>(file), {}};
    run_ = test::OpenBytes({bytes_});
  }

  template <typename Message>
  Message Ask(const Query& query) {
    auto answer = AnswerQuery({*run_, nullptr, query});
    EXPECT_TRUE(answer.ok()) << answer.status();
    return dynamic_cast<const Message&>(**answer);
  }

  Allocations LiveAtPeak(bool whole, GroupBy group_by = GROUP_NONE) {
    Query query;
    query.set_dataset(ALLOCATIONS);
    query.mutable_at()->set_peak(true);
    query.set_group_by(group_by);
    query.set_limit(10000);
    query.mutable_filter()->set_whole_blocks(whole);
    return Ask<Allocations>(query);
  }

  std::string bytes_;
  // gtest's fixtures have a Run of their own.
  std::unique_ptr<oom_forensics::Run> run_;
};

TEST_F(CompiledModulesTest, TheStepIsListedWithItsBytesAndRuns) {
  Query query;
  query.set_dataset(COMPILED_MODULES);
  const auto answer = Ask<CompiledModules>(query);
  ASSERT_GE(answer.modules_size(), 1);
  const CompiledModuleInfo& step = answer.modules(0);
  EXPECT_EQ(step.function(), "one_step_on_data");
  EXPECT_EQ(step.run_count(), 2);
  EXPECT_GT(step.temp_bytes(), 0);
  EXPECT_TRUE(step.has_schedule());
}

TEST_F(CompiledModulesTest, HowLongItTookToCompileTheHostsEventsTell) {
  Query query;
  query.set_dataset(COMPILED_MODULES);
  EXPECT_EQ(Ask<CompiledModules>(query).modules(0).compile_ns(), 0u)
      << "the golden trace has no such events";
  const std::string module = Ask<CompiledModules>(query).modules(0).name();
  test::PlaneBuilder plane("/host:CPU");
  const int64_t compile = plane.AddEventMetadata("CpuCompiler::RunBackend");
  plane.AddLine(
      {11, "t", 0, {{compile, 0, 2'000'000, {test::Ref("name", module)}}}});
  // Messages of protobuf are merged by writing one behind the other.
  run_ = test::OpenBytes({bytes_ + test::SerializeSpace({plane.Serialize()})});
  EXPECT_EQ(Ask<CompiledModules>(query).modules(0).compile_ns(), 2000u);
}

TEST_F(CompiledModulesTest, WhatLiesInTheBlockAddsUpToIt) {
  Query query;
  query.set_dataset(COMPILED_MODULES);
  const CompiledModuleDetail detail = Ask<CompiledModules>(query).detail();
  const BlockContent& content = detail.content();
  EXPECT_EQ(content.live_bytes() + content.unused_bytes(),
            detail.allocation().size_bytes());
  EXPECT_EQ(content.live_bytes(), detail.allocation().peak_live_bytes());
  uint64_t by_scope = 0;
  for (const BlockShare& share : content.by_scope()) by_scope += share.bytes();
  EXPECT_EQ(by_scope, content.live_bytes());
  EXPECT_GE(static_cast<double>(content.named_bytes()),
            0.99 * static_cast<double>(content.live_bytes()));
  EXPECT_NE(content.sentence().find("activations"), std::string::npos)
      << content.sentence();
}

TEST_F(CompiledModulesTest, AnOpenedBlockHasTheBytesOfTheWholeOne) {
  const Allocations whole = LiveAtPeak(true);
  const Allocations opened = LiveAtPeak(false);
  EXPECT_EQ(opened.total_allocated_bytes(), whole.total_allocated_bytes());
  EXPECT_EQ(opened.total_requested_bytes(), whole.total_requested_bytes());
  EXPECT_GT(opened.total_count(), whole.total_count());
}

TEST_F(CompiledModulesTest, BuffersFillTheirBlockOneBehindTheOther) {
  uint64_t at = 0;
  uint64_t end = 0;
  Query query;
  query.set_dataset(ALLOCATIONS);
  query.mutable_at()->set_peak(true);
  query.set_sort(SORT_ADDRESS);
  query.set_ascending(true);
  query.set_limit(10000);
  uint64_t parts = 0;
  const auto answer = Ask<Allocations>(query);
  for (const Allocation& allocation : answer.allocations()) {
    if (!allocation.compiled().is_part()) continue;
    ++parts;
    const CompiledBlock& block = allocation.compiled();
    if (block.part() == 0) {
      EXPECT_EQ(at, end);
      at = block.block_address();
      end = at + block.block_bytes();
    }
    EXPECT_EQ(allocation.address(), at) << allocation.op_name();
    at += allocation.allocated_bytes();
  }
  EXPECT_EQ(at, end);
  EXPECT_GT(parts, 3);
}

TEST_F(CompiledModulesTest, GroupsOfBuffersGoByLayerAndRole) {
  const Allocations scopes = LiveAtPeak(false, GROUP_SCOPE);
  bool found = false;
  for (const AllocationGroup& group : scopes.groups()) {
    for (const AllocationGroup& layer : group.children()) {
      found = found || StartsWith(layer.key(), "mix_");
    }
  }
  EXPECT_TRUE(found);
  bool activations = false;
  const Allocations live_by_role = LiveAtPeak(false, GROUP_ROLE);
  for (const AllocationGroup& role : live_by_role.groups()) {
    activations = activations || role.key() == "activation";
  }
  EXPECT_TRUE(activations);
}

TEST_F(CompiledModulesTest, AStackedTimelineOpensBlocksToo) {
  Query query;
  query.set_dataset(MEMORY_TIMELINE);
  query.set_top(20);
  query.set_group_by(GROUP_ROLE);
  query.set_columns(50);
  const auto timeline = Ask<MemoryTimeline>(query);
  ASSERT_EQ(timeline.series_size(), 1);
  for (const TimelineColumn& column : timeline.series(0).columns()) {
    uint64_t sum = 0;
    for (const uint64_t bytes : column.contributor_bytes()) sum += bytes;
    EXPECT_LE(sum, column.in_use_max_bytes());
  }
}

TEST_F(CompiledModulesTest, AMapShowsWhatLiesInABlockAtAChosenInstruction) {
  Query query;
  query.set_dataset(FRAGMENTATION);
  query.mutable_at()->set_peak(true);
  const auto opened_at = [&] {
    const auto answer = Ask<Fragmentation>(query);
    Chunk largest;
    for (const Chunk& chunk : answer.maps(0).chunks()) {
      if (chunk.parts_size() > 0 && chunk.size_bytes() > largest.size_bytes()) {
        largest = chunk;
      }
    }
    return largest;
  };
  const auto bytes_of = [](const Chunk& chunk) {
    uint64_t bytes = 0;
    for (const Allocation& part : chunk.parts()) {
      EXPECT_EQ(part.address(), chunk.address() + bytes);
      bytes += part.allocated_bytes();
    }
    return bytes;
  };
  const Chunk at_peak = opened_at();
  const CompiledBlock& block = at_peak.allocation().compiled();
  ASSERT_GT(block.program_points(), 2u);
  EXPECT_EQ(bytes_of(at_peak), at_peak.allocation().allocated_bytes());

  query.set_module(block.module());
  query.set_program_point(0);
  const Chunk at_begin = opened_at();
  EXPECT_EQ(at_begin.address(), at_peak.address());
  EXPECT_EQ(at_begin.allocation().compiled().program_point(), 0u);
  EXPECT_EQ(bytes_of(at_begin), at_begin.allocation().allocated_bytes());
  EXPECT_NE(at_begin.parts_size(), at_peak.parts_size());
}

TEST_F(CompiledModulesTest, AModuleThatThereIsNotIsRefusedInASentence) {
  Query query;
  query.set_dataset(COMPILED_MODULES);
  query.set_module("no_such");
  const auto answer = AnswerQuery({*run_, nullptr, query});
  EXPECT_EQ(answer.status().message(),
            "There is no compiled module no_such in this run.");
}

}  // namespace
}  // namespace oom_forensics
