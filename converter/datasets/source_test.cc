#include <algorithm>
#include <string>
#include <vector>

#include "converter/testing/fragmented_run.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::At;
using test::Get;
using test::TraceBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr uint64_t kPool = 0x10000;

// What a job with a data pipeline, a Keras layer and a list of tensors writes.
class SourceTest : public ::testing::Test {
 protected:
  SourceTest() {
    trace_.BaselineRegion(kPool, 1 << 20);
    const int64_t augment = trace_.Stack({"l:/lib/tensorflow/ops.py:7:add",
                                          "f:/home/me/train.py:41:augment",
                                          "f:/home/me/train.py:90:<module>"});
    const int64_t step = trace_.Stack(
        {"f:/home/me/train.py:50:step", "f:/home/me/train.py:90:<module>"});
    const int64_t made = trace_.Stack(
        {"l:/lib/keras/layer.py:3:__new__", "f:/home/me/models.py:5:build"});
    trace_.Alloc(kPool, {"AddV2", "[64]", 1, 256, 0, true, augment})
        .Alloc(kPool + 256, {"Mul", "[128]", 1, 512, 0, true, augment})
        .Alloc(kPool + 1024, {"model/conv/Conv2D", "[256]", 1, 1024, 0, false})
        .Alloc(kPool + 2048, {"nobody", "[64]", 1, 256, 0});
    trace_.SourceRecord(
        schema::kOpRecord, "model/conv/Conv2D",
        {test::U64(schema::kStack, static_cast<uint64_t>(step)),
         test::U64(schema::kMadeAtStack, static_cast<uint64_t>(made)),
         test::Text(schema::kObject, "Conv2D conv")});
    trace_.SourceRecord(schema::kLineRecord,
                        "/home/me/train.py\x1f"
                        "41",
                        {test::Text(schema::kText, "return image + noise")});
    trace_.SourceRecord(
        schema::kKeeperRecord, "",
        {test::U64(schema::kAddress, kPool + 256),
         test::U64(schema::kAddress, kPool), test::U64(schema::kBytes, 768),
         test::Text(schema::kChain, "list 'losses' in __main__ (2 items)"),
         test::Text(schema::kChain, "EagerTensor")});
  }

  Allocations Grouped(GroupBy group_by) {
    Query query = At("end");
    query.set_group_by(group_by);
    return Get<Allocations>(*trace_.Open(), ALLOCATIONS, query);
  }

  TraceBuilder trace_;
};

TEST_F(SourceTest, AnEagerAllocationIsToldByTheInnermostLineOfTheUser) {
  Query query = At("end");
  query.set_sort(SORT_ADDRESS);
  query.set_ascending(true);
  const auto answer = Get<Allocations>(*trace_.Open(), ALLOCATIONS, query);
  const SourceLocation& source = answer.allocations(0).source();
  EXPECT_EQ(source.line().file(), "/home/me/train.py");
  EXPECT_EQ(source.line().line(), 41u);
  EXPECT_EQ(source.line().function(), "augment");
  EXPECT_EQ(source.line().text(), "return image + noise");
  EXPECT_FALSE(source.has_called());
  EXPECT_FALSE(answer.allocations(3).has_source()) << "nothing was recorded";
}

TEST_F(SourceTest, AGraphsOpIsToldByTheLineThatMadeItsLayer) {
  Query query = At("end");
  query.mutable_filter()->set_scope("model");
  const auto answer = Get<Allocations>(*trace_.Open(), ALLOCATIONS, query);
  ASSERT_EQ(answer.allocations_size(), 1);
  const SourceLocation& source = answer.allocations(0).source();
  EXPECT_EQ(source.line().file(), "/home/me/models.py");
  EXPECT_EQ(source.object(), "Conv2D conv");
  EXPECT_EQ(source.called().line(), 50u);
}

TEST_F(SourceTest, LinesFilesAndFunctionsAreGroups) {
  const auto lines = Grouped(GROUP_LINE);
  ASSERT_EQ(lines.groups_size(), 3);
  EXPECT_EQ(lines.groups(0).key(), "/home/me/models.py:5 build");
  EXPECT_EQ(lines.groups(1).key(), "/home/me/train.py:41 augment");
  EXPECT_EQ(lines.groups(1).allocated_bytes(), 768u);
  EXPECT_EQ(lines.groups(1).line().text(), "return image + noise");
  EXPECT_EQ(lines.groups(2).key(), "(no line recorded)");
  EXPECT_FALSE(lines.groups(2).has_line());
  EXPECT_EQ(Grouped(GROUP_FILE).groups(1).key(), "/home/me/train.py");
  EXPECT_EQ(Grouped(GROUP_FUNCTION).groups(1).key(),
            "/home/me/train.py augment");
}

TEST_F(SourceTest, WhatIsLiveAtAMomentComesWithWhatKeepsIt) {
  // Not so a tensor of earlier that lay where a kept one lies.
  trace_.Alloc(kPool + 4096, {"early", "[64]", 1, 256, 0}).Free(kPool + 4096);
  trace_.SourceRecord(schema::kKeeperRecord, "",
                      {test::U64(schema::kAddress, kPool + 4096),
                       test::U64(schema::kBytes, 256),
                       test::Text(schema::kChain, "'late' in __main__")});
  const auto run = trace_.Open();
  const auto all = Get<Allocations>(*run, ALLOCATIONS, At("end"));
  ASSERT_EQ(all.keepers_size(), 1);
  EXPECT_EQ(all.keepers(0).allocated_bytes(), 768u);
  Query narrow = At("end");
  narrow.mutable_filter()->set_source_line(41);
  narrow.mutable_filter()->set_source_file("/home/me/train.py");
  narrow.mutable_filter()->set_min_bytes(512);
  const auto some = Get<Allocations>(*run, ALLOCATIONS, narrow);
  ASSERT_EQ(some.keepers_size(), 1);
  EXPECT_EQ(some.keepers(0).count(), 1u);
  Query before = At("peak");
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, before).keepers_size(), 1);
  Query range = At("end");
  range.set_range(true);
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, range).keepers_size(), 0);
}

TEST_F(SourceTest, CallsAreATreeFromTheOutermostLine) {
  const auto answer = Grouped(GROUP_STACK);
  ASSERT_EQ(answer.groups_size(), 2);
  const AllocationGroup& module = answer.groups(0);
  EXPECT_EQ(module.key(), "/home/me/train.py:90 <module>");
  EXPECT_EQ(module.allocated_bytes(), 768u + 1024u);
  ASSERT_EQ(module.children_size(), 2);
  EXPECT_EQ(module.children(0).line().line(), 50u);
  EXPECT_EQ(module.children(0).children(0).line().function(), "build");
  EXPECT_EQ(module.children(1).line().line(), 41u);
}

TEST_F(SourceTest, AFilterKeepsOneLine) {
  const auto run = trace_.Open();
  const auto count = [&run](const std::string& file, uint32_t line,
                            const std::string& function) {
    Query query = At("end");
    query.mutable_filter()->set_source_file(file);
    query.mutable_filter()->set_source_line(line);
    query.mutable_filter()->set_source_function(function);
    return Get<Allocations>(*run, ALLOCATIONS, query).total_count();
  };
  EXPECT_EQ(count("/home/me/train.py", 41, "augment"), 2u);
  EXPECT_EQ(count("train.py", 0, ""), 2u) << "a name without its folders";
  EXPECT_EQ(count("me/train.py", 0, ""), 0u);
  EXPECT_EQ(count("", 0, "build"), 1u);
  EXPECT_EQ(count("/home/me/train.py", 42, ""), 0u);
}

TEST_F(SourceTest, AnOomNamesTheLineTheHoldersAndWhatKeepsThem) {
  const int64_t stack = trace_.Stack(
      {"l:/lib/tensorflow/ops.py:9:mul", "f:/home/me/train.py:60:loss"});
  trace_.Fail({"Mul", "[4]", 1, 4096, 0, true, stack}, {});
  const auto window =
      Get<OomWindow>(*trace_.Open(), OOM_WINDOW, Query::default_instance());
  ASSERT_EQ(window.ooms_size(), 1);
  const Oom& oom = window.ooms(0);
  EXPECT_EQ(oom.request().source().line().line(), 60u);
  ASSERT_EQ(oom.request().source().frames_size(), 2) << "all frames";
  EXPECT_TRUE(oom.request().source().frames(0).is_library());
  ASSERT_EQ(oom.lines_size(), 3);
  EXPECT_EQ(oom.lines(1).line().line(), 41u);
  ASSERT_EQ(oom.keepers_size(), 1);
  EXPECT_EQ(oom.keepers(0).count(), 2u);
  EXPECT_EQ(oom.keepers(0).allocated_bytes(), 768u);
  EXPECT_THAT(
      oom.keepers(0).chain(),
      ElementsAre("list 'losses' in __main__ (2 items)", "EagerTensor"));
}

TEST_F(SourceTest, WhatADataPipelineAsksForIsToldByItsSize) {
  const int64_t batch = trace_.Stack({"f:/home/me/train.py:12:<module>"});
  trace_.Alloc(kPool + 4096, {"", "", 0, 1536})
      .Alloc(kPool + 8192, {"Mul", "[384]", 1, 1536})
      .Alloc(kPool + 16384, {"", "", 0, 1024})
      .SourceRecord(schema::kSizeRecord, "",
                    {test::U64(schema::kBytes, 1536),
                     test::U64(schema::kStack, static_cast<uint64_t>(batch))});
  const auto lines = Grouped(GROUP_LINE);
  const auto told =
      std::find_if(lines.groups().begin(), lines.groups().end(),
                   [](const AllocationGroup& group) {
                     return group.key() == "/home/me/train.py:12 <module>";
                   });
  ASSERT_NE(told, lines.groups().end());
  EXPECT_EQ(told->count(), 1u) << "neither an op's nor one of another size";
}

TEST_F(SourceTest, WhatIsMissingOfTheLinesIsSaid) {
  const auto notes = [](TraceBuilder* trace) {
    const auto info =
        Get<Info>(*trace->Open(), INFO, Query::default_instance());
    std::vector<std::string> names;
    for (const Quality& quality : info.quality()) {
      names.push_back(quality.name());
    }
    return names;
  };
  TraceBuilder full;
  full.Alloc(kPool, {}).SourceStat(test::U64(schema::kDroppedStacks, 7));
  EXPECT_THAT(notes(&full), Contains("dropped_stacks"));
  TraceBuilder unknown;
  unknown.Alloc(kPool, {}).SourceStat(test::Text(
      schema::kSourceLines, "off: the frames of Python 3.99 are not known"));
  EXPECT_THAT(notes(&unknown), Contains("no_source_lines"));
  TraceBuilder off;
  off.Alloc(kPool, {}).SourceStat(
      test::Text(schema::kSourceLines, "off: switched off"));
  EXPECT_THAT(notes(&off), Contains("source_lines_switched_off"));
  EXPECT_THAT(notes(&off), Not(Contains("no_source_lines")));
}

TEST_F(SourceTest, APlaneOfSourceLinesIsNoAllocator) {
  const auto info = Get<Info>(*trace_.Open(), INFO, Query::default_instance());
  ASSERT_EQ(info.hosts_size(), 1);
  EXPECT_EQ(info.hosts(0).allocators_size(), 1);
}

}  // namespace
}  // namespace oom_forensics
