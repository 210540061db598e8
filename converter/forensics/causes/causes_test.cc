// What stands behind an out-of-memory, told in the verdict and in a remedy of
// its own.
#include <memory>
#include <string>
#include <vector>

#include "converter/forensics/held.h"
#include "converter/forensics/remedies/remedies.h"
#include "converter/forensics/verdict/verdict.h"
#include "converter/testing/judged_oom.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::Judge;
using test::Judged;
using test::TraceBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = 0x10000000;

Ask Eager(const std::string& op, const std::string& shape,
          uint64_t bytes = kMiB) {
  Ask ask{op, shape, 1, bytes};
  ask.eager = true;
  return ask;
}

// Sixteen steps that each leave a tensor of 1 MiB behind, which an object
// keeps.
TraceBuilder Kept(const std::string& root) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  std::vector<test::Stat> keeper = {test::Text(schema::kChain, root),
                                    test::Text(schema::kChain, "EagerTensor")};
  for (uint64_t step = 0; step < 16; ++step) {
    trace.Step(static_cast<int64_t>(step));
    trace.Alloc(kBase + step * kMiB, Eager("Relu", "[512,512]"));
    keeper.push_back(test::U64(schema::kAddress, kBase + step * kMiB));
  }
  trace.SourceRecord(schema::kKeeperRecord, "", keeper);
  trace.Step(16);
  trace.Fail(Eager("Relu", "[512,512]"), {true, 16 * kMiB, ""});
  return trace;
}

TEST(CausesTest, ALeakNamesTheObjectThatKeepsIt) {
  TraceBuilder trace = Kept("list 'losses' in __main__ (16 items)");
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "LEAK_LIKE");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("16.0 MiB of it are kept by list 'losses' in __main__ "
                        "(16 items)."));
  const Remedy* release = judged.FindRemedy("release_leak");
  ASSERT_NE(release, nullptr);
  EXPECT_THAT(
      release->keeper(),
      ElementsAre("list 'losses' in __main__ (16 items)", "EagerTensor"));
}

// Items of different shapes that one object keeps, each in a round of its own.
TraceBuilder Collected(const std::string& root, uint64_t items) {
  TraceBuilder trace("bfc_cpu_allocator_for_gpu#0");
  trace.Region(kBase, 32 * kMiB);
  std::vector<test::Stat> keeper = {test::Text(schema::kChain, root),
                                    test::Text(schema::kChain, "EagerTensor")};
  const uint64_t work = kBase + 31 * kMiB;
  for (uint64_t item = 0; item < items; ++item) {
    const std::string length = std::to_string(100 + item);
    const uint64_t address = kBase + item * kMiB;
    trace.Alloc(work, Eager("Cast", "[" + length + "]")).Free(work);
    trace.Alloc(address, Eager("Relu", "[" + length + ",8]"));
    keeper.push_back(test::U64(schema::kAddress, address));
  }
  trace.SourceRecord(schema::kKeeperRecord, "", keeper);
  return trace;
}

TEST(CausesTest, WhatOneListKeepsIsOneLeakWhateverTheShapes) {
  TraceBuilder trace = Collected("list 'kept' in __main__ (28 items)", 28);
  trace.Fail(Eager("Cast", "[200,8]", 8 * kMiB), test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "LEAK_LIKE");
  EXPECT_THAT(
      judged.verdict.sentence(),
      HasSubstr("28 outputs of Relu are kept, 1.00 MiB more per round"));
  EXPECT_EQ(judged.FindRemedy("release_models"), nullptr);
}

TEST(CausesTest, AFewItemsAreALeakWhereARoundLikeThisOneFitBeforeThem) {
  TraceBuilder trace("bfc_cpu_allocator_for_gpu#0");
  trace.Region(kBase, 32 * kMiB);
  const uint64_t result = kBase + 5 * kMiB / 2;
  const uint64_t activations = result + 3 * kMiB;
  const auto asked = Eager("Mul", "[3,512,512]", 3 * kMiB);
  std::vector<test::Stat> keeper = {
      test::Text(schema::kChain, "list 'kept' in __main__ (6 items)"),
      test::Text(schema::kChain, "EagerTensor")};
  for (uint64_t item = 0; item < 6; ++item) {
    trace.Alloc(activations, Eager("Einsum", "[53,256,512]", 53 * kMiB / 2));
    trace.Alloc(result, asked).Free(result).Free(activations);
    const uint64_t address = kBase + item * kMiB / 2;
    trace.Alloc(address, Eager("Relu", "[256,512]", kMiB / 2));
    keeper.push_back(test::U64(schema::kAddress, address));
  }
  trace.SourceRecord(schema::kKeeperRecord, "", keeper);
  trace.Alloc(activations, Eager("Einsum", "[53,256,512]", 53 * kMiB / 2));
  trace.Fail(asked, test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  // Each round had the same peak: what is new is what the list has kept.
  EXPECT_EQ(judged.verdict.kind(), "LEAK_LIKE");
  EXPECT_THAT(judged.verdict.sentence(),
              AllOf(HasSubstr("are kept by list 'kept' in __main__ (6 items)"),
                    HasSubstr("refused memory finished")));
  const Remedy* release = judged.FindRemedy("release_collection");
  ASSERT_NE(release, nullptr);
  EXPECT_NE(release->sufficiency(), NOT_ENOUGH);
}

TEST(CausesTest, ADequeSaysWhereItEnds) {
  TraceBuilder trace =
      Collected("deque 'replay' in __main__ (28 of at most 40 items)", 28);
  trace.Fail(Eager("Cast", "[200,8]", 8 * kMiB), test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("It keeps at most 40 items, 40.0 MiB in all."));
  const Remedy* larger = judged.FindRemedy("larger_limit");
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->sufficiency(), UNCERTAIN);
}

TEST(CausesTest, WhatWasCollectedBeforeTheWorkThatFailedIsNoLeak) {
  TraceBuilder trace = Collected("list 'bank' in __main__ (20 items)", 20);
  for (int step = 0; step < 12; ++step) {
    trace.Alloc(kBase + 24 * kMiB, Eager("MatMul", "[512,512]"));
    trace.Free(kBase + 24 * kMiB);
  }
  trace.Fail(Eager("MatMul", "[16,512,512]", 16 * kMiB), test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(), HasSubstr("no longer grows"));
}

TEST(CausesTest, WhatOthersDoWhileARequestWaitsIsNoNewWork) {
  TraceBuilder trace = Collected("list 'kept' in __main__ (28 items)", 28);
  for (int i = 0; i < 100; ++i) {
    trace.Alloc(kBase + 30 * kMiB, Eager("Read", "[8]"))
        .Free(kBase + 30 * kMiB);
  }
  trace.Fail(Eager("Cast", "[200,8]", 8 * kMiB),
             {true, 32 * kMiB, "", 200'000});
  EXPECT_EQ(Judge(trace).verdict.kind(), "LEAK_LIKE");
}

TEST(CausesTest, ItemsDoNotGrowOnWhereSomethingElseIsDone) {
  TraceBuilder trace = Collected("list 'kept' in __main__ (28 items)", 28);
  trace.Fail(Eager("Fill", "[512,4096]", 8 * kMiB), test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(
      judged.verdict.sentence(),
      HasSubstr(
          "The trace does not show whether it would have grown further."));
}

// Two variables of the same size, of two networks, with one optimizer.
TEST(CausesTest, SeveralVariablesOfOneSizeAreNotOneWithADenseGradient) {
  TraceBuilder trace;
  trace.Region(kBase, 32 * kMiB);
  std::vector<test::Stat> variables = {
      test::Text(schema::kChain, "Sequential 'model' in __main__"),
      test::Text(schema::kChain, "ResourceVariable '_value'")};
  for (uint64_t i = 0; i < 2; ++i) {
    trace.Alloc(kBase + i * 6 * kMiB, test::Tensor("AddV2", 6 * kMiB, "[6]"));
    variables.push_back(test::U64(schema::kAddress, kBase + i * 6 * kMiB));
  }
  trace.SourceRecord(schema::kKeeperRecord, "", variables);
  trace.Step(0);
  for (uint64_t i = 2; i < 4; ++i) {
    trace.Alloc(kBase + i * 6 * kMiB,
                test::Tensor("adam/momentum/zeros", 6 * kMiB, "[6]"));
  }
  trace.EndStep().Step(1);
  trace.Fail(test::Tensor("model/Relu", 9 * kMiB, "[9]"), test::Oom(32 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_THAT(judged.verdict.sentence(), Not(HasSubstr("gradient made dense")));
}

TEST(CausesTest, ARequestThatNoDataExplainsIsAShapeThatLooksWrong) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Eager("BiasAdd", "[40000,1]"));
  trace.Fail(Eager("Sub", "[40000,40000]", uint64_t{6} << 30),
             test::Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_THAT(judged.verdict.sentence(),
              AllOf(HasSubstr("This shape looks wrong: [40000,40000] is 6.00 "
                              "GiB"),
                    HasSubstr("[40000] beside one of [40000,1]")));
  EXPECT_NE(judged.FindRemedy("check_shape"), nullptr);
  EXPECT_EQ(judged.FindRemedy("larger_limit"), nullptr);
}

// TensorFlow splits no block of which less than 128 MiB would be left.
TEST(CausesTest, SlackInsideOfABlockIsToldWhereItDecides) {
  TraceBuilder trace;
  trace.Region(kBase, 256 * kMiB);
  Ask wide = test::Tensor("model/Relu", 180 * kMiB, "[9]");
  wide.allocated_bytes = 256 * kMiB;
  trace.Alloc(kBase, wide);
  trace.Fail(test::Tensor("model/Relu", kMiB, "[1]"), test::Oom(256 * kMiB));
  EXPECT_THAT(Judge(trace).verdict.sentence(),
              HasSubstr("180.0 MiB of model/Relu [9] float32 lie in a block of "
                        "256.0 MiB."));
}

TEST(CausesTest, AStepThatLeavesItsGradientsToAnotherFunctionIsNotAll) {
  const auto grade_of = [](const std::string& op) {
    TraceBuilder trace = Kept("list 'losses' in __main__ (16 items)");
    trace.Forecast("__inference_step_1", 0, 2 * kMiB, op);
    return Judge(trace).FindRemedy("release_leak")->sufficiency();
  };
  EXPECT_EQ(grade_of("model/dense/MatMul"), ENOUGH_ALONE);
  // What the optimizer will keep is made where they are applied.
  EXPECT_EQ(grade_of("gradient_tape/model/dense/MatMul/MatMul_1"), UNCERTAIN);
}

TEST(CausesTest, WhatIsToldAtTwoOutOfMemoriesIsToldOnce) {
  TraceBuilder trace = Kept("list 'losses' in __main__ (16 items)");
  trace.SourceRecord(
      schema::kKeeperRecord, "",
      {test::Text(schema::kChain, "list 'others' in __main__ (1 item)"),
       test::U64(schema::kAddress, kBase)});
  trace.SourceRecord(
      schema::kKeeperRecord, "",
      {test::Text(schema::kChain, "list 'others' in __main__ (1 item)"),
       test::U64(schema::kAddress, kBase)});
  const auto run = trace.Open();
  const SharedHost host = run->Load(0);
  EXPECT_EQ(HeldTable(*host->allocators()[0], {0}).KeepersOf({0}).size(), 2u)
      << "the two lists";
}

TEST(CausesTest, WhatPredictKeepsIsGivenBackAtTheEndOfTheCall) {
  TraceBuilder trace =
      Kept("list 'outputs' in predict (trainer.py:587) (16 items)");
  const Judged judged = Judge(trace);
  const Remedy* release = judged.FindRemedy("release_leak");
  ASSERT_NE(release, nullptr);
  EXPECT_EQ(release->title(), "Predict fewer examples in one call.");
  EXPECT_THAT(release->code(), HasSubstr("model.predict(part)"));
}

TEST(CausesTest, WhatOneTapeKeepsIsNoLeakButRoundsOfALoopUnderIt) {
  TraceBuilder trace = Kept("GradientTape 'tape' in __main__");
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("A gradient tape keeps 16.0 MiB in 16 tensors"));
  EXPECT_EQ(judged.FindRemedy("release_leak"), nullptr);
  const Remedy* shorter = judged.FindRemedy("shorter_tape");
  ASSERT_NE(shorter, nullptr);
  EXPECT_EQ(shorter->bytes(), 8 * kMiB);
  // How a program divides its loop nobody knows.
  EXPECT_NE(shorter->sufficiency(), ENOUGH_ALONE);
}

TEST(CausesTest, AFunctionThatIsTracedAnewKeepsItsConstants) {
  TraceBuilder trace;
  trace.Region(kBase, 17 * kMiB);
  const uint64_t work = kBase + 16 * kMiB;
  for (uint64_t call = 0; call < 16; ++call) {
    trace.Step(static_cast<int64_t>(call));
    trace.Alloc(kBase + call * kMiB, {"table", "", 0, kMiB});
    const std::string name = "__inference_step_" + std::to_string(11 * call);
    trace.Alloc(work, {name, "[4]", 1, kMiB / 2}).Free(work);
  }
  trace.Step(16);
  trace.Fail({"table", "", 0, 2 * kMiB}, {true, 17 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "LEAK_LIKE");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("The function step was traced 16 times"));
  EXPECT_NE(judged.FindRemedy("stop_retracing"), nullptr);
  // No list of the program's holds them.
  EXPECT_EQ(judged.FindRemedy("release_leak"), nullptr);
}

// A pool of 16 MiB in which a shuffle() keeps so many elements, [64,64,depth].
TraceBuilder KeptByShuffle(uint64_t elements, uint64_t depth) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.Step(0);
  trace.Alloc(kBase, {"ShuffleDatasetV3", "", 0, 256});
  const std::string shape = "[64,64," + std::to_string(depth) + "]";
  const uint64_t bytes = 64 * 64 * depth * sizeof(float);
  for (uint64_t element = 0; element < elements; ++element) {
    trace.StepId(static_cast<int64_t>(element) + 1);
    trace.Alloc(kBase + 4096 + element * bytes,
                {"decode/Cast", shape, 1, bytes});
  }
  return trace;
}

TEST(CausesTest, ElementsThatAShuffleKeepsAreTold) {
  TraceBuilder trace = KeptByShuffle(100, 8);
  trace.Fail({"decode/Cast", "[64,64,128]", 1, 8 * kMiB},
             {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(
      judged.verdict.sentence(),
      HasSubstr("shuffle() of the input pipeline keeps elements: 100 outputs"));
  const Remedy* smaller = judged.FindRemedy("smaller_pipeline_buffer");
  ASSERT_NE(smaller, nullptr);
  EXPECT_EQ(smaller->bytes(), 100 * (kMiB / 8));
}

TEST(CausesTest, ACacheThatGrowsWithEveryStepIsNoListOfTheProgram) {
  const auto judge = [](bool is_kept_by_list) {
    TraceBuilder trace;
    trace.Region(kBase, 16 * kMiB);
    trace.Alloc(kBase, {"ShuffleDatasetV3", "", 0, 256});
    trace.Alloc(kBase + 256, {"CacheDatasetV2", "", 0, 256});
    std::vector<test::Stat> keeper = {
        test::Text(schema::kChain, "list 'kept' in __main__ (96 items)"),
        test::U64(schema::kAddress, kBase + 256)};
    for (uint64_t element = 0; element < 96; ++element) {
      if (element % 8 == 0) trace.Step(static_cast<int64_t>(element / 8));
      const uint64_t address = kBase + 4096 + element * (kMiB / 8);
      trace.StepId(static_cast<int64_t>(element) + 1);
      trace.Alloc(address, {"decode/Cast", "[64,64,8]", 1, kMiB / 8});
      if (is_kept_by_list) {
        keeper.push_back(test::U64(schema::kAddress, address));
      }
    }
    trace.SourceRecord(schema::kKeeperRecord, "", keeper);
    trace.Step(12);
    trace.Fail({"model/Relu", "[64,64,128]", 1, 8 * kMiB},
               {true, 16 * kMiB, ""});
    return Judge(trace);
  };
  const Judged cached = judge(false);
  EXPECT_EQ(cached.verdict.kind(), "LEAK_LIKE");
  EXPECT_THAT(cached.verdict.sentence(),
              HasSubstr("cache() of the input pipeline keeps elements: 96"));
  EXPECT_EQ(cached.FindRemedy("release_leak"), nullptr);
  const Remedy* file = cached.FindRemedy("smaller_pipeline_buffer");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->code(), "dataset.cache(filename)");
  const Judged kept = judge(true);
  EXPECT_NE(kept.FindRemedy("release_leak"), nullptr);
  EXPECT_EQ(kept.FindRemedy("smaller_pipeline_buffer"), nullptr);
}

TEST(CausesTest, BatchesThatThePipelineHasMadeAheadAreTold) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.Alloc(kBase, {"PrefetchDataset", "", 0, 256});
  for (uint64_t batch = 0; batch < 12; ++batch) {
    // What puts elements together to a batch runs no op.
    trace.Alloc(kBase + 4096 + batch * kMiB, {"", "", 0, kMiB});
  }
  trace.Step(0).StepId(7);
  trace.Fail({"model/Relu", "[64,64,512]", 1, 8 * kMiB}, {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("12 tensors of 1.00 MiB are ready or being made, 12.0 "
                        "MiB in all"));
  const Remedy* less = judged.FindRemedy("less_prefetch");
  ASSERT_NE(less, nullptr);
  // One is used, one ready, one being made.
  EXPECT_EQ(less->bytes(), 9 * kMiB);
}

TEST(CausesTest, WhatAShuffleKeepsIsNotToldAsBatchesMadeAhead) {
  TraceBuilder trace = KeptByShuffle(70, 12);
  trace.Step(1);
  trace.Fail({"decode/Cast", "[64,64,128]", 1, 8 * kMiB},
             {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_NE(judged.FindRemedy("smaller_pipeline_buffer"), nullptr);
  EXPECT_EQ(judged.FindRemedy("less_prefetch"), nullptr);
}

TEST(CausesTest, ManyStepsInOneCallOfPredictAreTold) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.Alloc(kBase, {"PrefetchDataset", "", 0, 256});
  for (uint64_t batch = 1; batch <= 6; ++batch) {
    trace.Alloc(kBase + batch * kMiB, {"GatherV2", "[64,4096]", 1, kMiB});
  }
  trace.Step(0).StepId(7);
  for (uint64_t step = 1; step <= 6; ++step) {
    trace.Alloc(kBase + (6 + step) * kMiB,
                {"model/dense/Relu", "[64,4096]", 1, kMiB});
  }
  trace.Fail({"model/dense/Relu", "[64,32768]", 1, 8 * kMiB},
             {true, 16 * kMiB, ""});
  trace.Forecast("__inference_multi_step_on_data_42", 7);
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(
      judged.verdict.sentence(),
      HasSubstr("steps_per_execution makes predict() run several steps"));
  const Remedy* fewer = judged.FindRemedy("fewer_steps_per_execution");
  ASSERT_NE(fewer, nullptr);
  // All but one of each.
  EXPECT_EQ(fewer->bytes(), 11 * kMiB);
  EXPECT_EQ(judged.FindRemedy("less_prefetch"), nullptr);
}

TEST(CausesTest, WithoutAPipelineTensorsThatAreAlikeAreNoBatches) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  for (uint64_t batch = 0; batch < 12; ++batch) {
    trace.Alloc(kBase + batch * kMiB, {"", "", 0, kMiB});
  }
  trace.Step(0).StepId(7);
  trace.Fail({"model/Relu", "[64,64,512]", 1, 8 * kMiB}, {true, 16 * kMiB, ""});
  EXPECT_EQ(Judge(trace).FindRemedy("less_prefetch"), nullptr);
}

TEST(CausesTest, APoolThatGrewForSmallerStepsSaysSo) {
  TraceBuilder trace;
  for (uint64_t step = 0; step < 4; ++step) {
    trace.Step(static_cast<int64_t>(step));
    const uint64_t region = kBase + step * 16 * kMiB;
    trace.Region(region, 4 * kMiB);
    trace.Alloc(region, {"model/Relu", "[512,512]", 1, 3 * kMiB}).Free(region);
  }
  trace.Step(4);
  trace.Fail({"model/Relu", "[1024,1536]", 1, 6 * kMiB}, {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "GROWTH_REGIONS");
  EXPECT_THAT(
      judged.verdict.sentence(),
      HasSubstr("as large as the 4 steps before needed, at most "
                "4.00 MiB: no earlier request was larger than 3.00 MiB"));
  const Remedy* first = judged.FindRemedy("largest_first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->sufficiency(), UNCERTAIN);
}

TEST(CausesTest, AStepOfTheSameSizeIsNotLargerThanTheFirst) {
  TraceBuilder trace;
  trace.Region(kBase, 4 * kMiB).Region(kBase + 16 * kMiB, 4 * kMiB);
  const Ask all{"model/Relu", "[512,512]", 1, 4 * kMiB};
  for (int64_t step = 0; step < 4; ++step) {
    trace.Step(step).Alloc(kBase, all).Free(kBase);
  }
  trace.Step(4);
  trace.Alloc(kBase + kMiB, Eager("kept", "[512,512]"));
  trace.Alloc(kBase + 17 * kMiB, Eager("kept", "[512,512]"));
  trace.Fail(all, {true, 8 * kMiB, ""});
  EXPECT_EQ(Judge(trace).FindRemedy("largest_first"), nullptr);
}

TEST(CausesTest, PiecesAreNoMatterWhereAllOfThemAreTooSmall) {
  TraceBuilder trace;
  for (uint64_t step = 0; step < 4; ++step) {
    trace.Step(static_cast<int64_t>(step));
    const uint64_t region = kBase + step * 16 * kMiB;
    trace.Region(region, 4 * kMiB);
    trace.Alloc(region, {"model/Relu", "[512,512]", 1, 3 * kMiB}).Free(region);
  }
  trace.Step(4).StepId(7);
  trace.Fail({"model/Relu", "[1024,1536]", 1, 6 * kMiB}, {true, 16 * kMiB, ""});
  trace.Forecast("__inference_one_step_on_data_42", 7, 40 * kMiB);
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_EQ(judged.FindRemedy("largest_first"), nullptr);
}

// The iterations of a loop that keeps two tensors of each, and of some a third
// that is there for a moment.
TEST(CausesTest, ALoopThatKeepsItsIterationsIsTold) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.Step(0).StepId(7);
  const std::string body = "model/lstm/while/body/_1/model/lstm/while/cell/";
  uint64_t address = kBase;
  const auto keep = [&](const std::string& op, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      trace.Alloc(address, {body + op, "[64,512]", 1, kMiB / 8});
      address += kMiB / 8;
    }
  };
  keep("Tanh", 50);
  keep("mul", 50);
  keep("MatMul", 9);
  trace.Fail({body + "MatMul", "[64,2048]", 1, 4 * kMiB},
             {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(), HasSubstr("of the 50 that were done"));
}

TEST(CausesTest, WhatALoopOfAFunctionCollectsInOneCallIsNoLeak) {
  for (const std::string call : {"", "StatefulPartitionedCall_1/"}) {
    const std::string body = call + "while/body/_1/while/";
    TraceBuilder trace;
    trace.Region(kBase, 16 * kMiB);
    trace.StepId(7);
    uint64_t address = kBase;
    for (int i = 0; i < 50; ++i) {
      trace.Alloc(address, {body + "MatMul", "[64,512]", 1, kMiB / 4});
      address += kMiB / 4;
      trace.Alloc(address, {body + "Tanh", "[64,64]", 1, kMiB / 32});
      trace.Free(address);
    }
    trace.Fail({body + "Tanh", "[64,2048]", 1, 8 * kMiB},
               {true, 16 * kMiB, ""});
    const Judged judged = Judge(trace);
    EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
    EXPECT_THAT(judged.verdict.sentence(),
                HasSubstr("A loop of the function keeps 256.0 KiB of each"));
    EXPECT_EQ(judged.FindRemedy("release_leak"), nullptr);
  }
}

// Three rounds that each make a variable of 3 MiB and run two steps.
TraceBuilder ThreeRounds() {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  for (uint64_t round = 0; round < 3; ++round) {
    trace.Alloc(kBase + round * 3 * kMiB, Eager("AddV2", "[3]", 3 * kMiB));
    for (int64_t step = 0; step < 2; ++step) {
      trace.Step(static_cast<int64_t>(2 * round) + step);
      const uint64_t work = kBase + 12 * kMiB;
      trace.Alloc(work, {"model/Relu", "[4]", 1, kMiB}).Free(work);
    }
    trace.EndStep();
  }
  return trace;
}

// Says that `root` keeps the model of a round.
void KeepModel(const std::string& root, uint64_t round, TraceBuilder* trace) {
  trace->SourceRecord(schema::kKeeperRecord, "",
                      {test::Text(schema::kChain, root),
                       test::Text(schema::kChain, "Sequential"),
                       test::Text(schema::kChain, "ResourceVariable '_value'"),
                       test::U64(schema::kAddress, kBase + round * 3 * kMiB)});
}

Judged JudgeRounds(TraceBuilder* trace) {
  trace->Step(6).Fail({"model/Relu", "[4]", 1, 8 * kMiB}, test::Oom(16 * kMiB));
  return Judge(*trace);
}

TEST(CausesTest, ModelsOfEarlierRoundsNameTheObjectThatKeepsThem) {
  TraceBuilder trace = ThreeRounds();
  KeepModel("list 'models' in __main__ (2 items)", 0, &trace);
  KeepModel("list 'models' in __main__ (2 items)", 1, &trace);
  const Judged judged = JudgeRounds(&trace);
  EXPECT_EQ(judged.verdict.kind(), "RETAINED");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("6.00 MiB of it are kept by list 'models' in __main__ "
                        "(2 items)."));
  const Remedy* release = judged.FindRemedy("release_models");
  ASSERT_NE(release, nullptr);
  EXPECT_THAT(release->keeper(),
              ElementsAre("list 'models' in __main__ (2 items)", "Sequential",
                          "ResourceVariable '_value'"));
}

TEST(CausesTest, ModelsOfOtherShapesAreOfTheObjectThatKeepsThemAll) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  for (uint64_t round = 0; round < 4; ++round) {
    trace.Alloc(kBase + round * 3 * kMiB,
                Eager("AddV2", absl::StrCat("[", round + 3, "]"),
                      (round + 5) * kMiB / 4));
    trace.Step(static_cast<int64_t>(round));
    const uint64_t work = kBase + 12 * kMiB;
    trace.Alloc(work, {"model/Relu", "[4]", 1, kMiB}).Free(work);
    trace.EndStep();
  }
  for (uint64_t round = 0; round < 4; ++round) {
    KeepModel("dict 'tried' in __main__ (4 items)", round, &trace);
  }
  const Judged judged = JudgeRounds(&trace);
  EXPECT_EQ(judged.verdict.kind(), "RETAINED");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("kept by dict 'tried' in __main__ (4 items)"));
}

TEST(CausesTest, AModelOnItsWayToTheOthersIsOneOfThem) {
  TraceBuilder trace = ThreeRounds();
  KeepModel("dict 'trained' in __main__ (1 item)", 0, &trace);
  KeepModel("History 'log' in __main__", 1, &trace);
  EXPECT_THAT(JudgeRounds(&trace).verdict.sentence(),
              HasSubstr("still held: 6.00 MiB in 2 tensors."));
}

TEST(CausesTest, AModelWithANameOfItsOwnIsMeantToBeThere) {
  TraceBuilder trace = ThreeRounds();
  KeepModel("Sequential 'teacher' in __main__", 0, &trace);
  KeepModel("Sequential 'student' in __main__", 1, &trace);
  EXPECT_EQ(JudgeRounds(&trace).verdict.kind(), "CAPACITY");
}

TEST(CausesTest, AFailedAttemptNamesTheExceptionThatHoldsIt) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  const auto eager = [](const std::string& op, uint64_t bytes,
                        const std::string& shape) {
    Ask ask = Eager(op, shape);
    ask.requested_bytes = bytes;
    return ask;
  };
  trace.Alloc(kBase, eager("normal", 2 * kMiB, "[2]"));
  trace.Alloc(kBase + 2 * kMiB, eager("MatMul", 12 * kMiB, "[8]"));
  trace.Fail(eager("Relu", 12 * kMiB, "[8]"), {true, 16 * kMiB, ""});
  trace.Alloc(kBase + 14 * kMiB, eager("normal", kMiB, "[1]"));
  trace.SourceRecord(
      schema::kKeeperRecord, "",
      {test::Text(schema::kChain, "ResourceExhaustedError 'error' in __main__"),
       test::Text(schema::kChain, "frame of attempt"),
       test::U64(schema::kAddress, kBase + 2 * kMiB)});
  trace.Fail(eager("MatMul", 6 * kMiB, "[4]"), {true, 16 * kMiB, ""});
  const Judged judged = Judge(trace, std::nullopt, 1);
  EXPECT_EQ(judged.verdict.kind(), "RETAINED");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("kept by ResourceExhaustedError 'error'"));
  const Remedy* release = judged.FindRemedy("release_exception");
  ASSERT_NE(release, nullptr);
  EXPECT_THAT(release->keeper(),
              ElementsAre("ResourceExhaustedError 'error' in __main__",
                          "frame of attempt"));
}

TEST(CausesTest, ABatchOfThePipelineDidNotComeFromNumPy) {
  const auto judge = [](bool has_line) {
    TraceBuilder trace;
    trace.Region(kBase, 32 * kMiB);
    const int64_t stack = trace.Stack({"f:train.py:3:main"});
    Ask variable = Eager("AddV2", "[64]");
    variable.stack = stack;
    Ask batch{"", "", 0, 12 * kMiB};
    if (has_line) batch.stack = stack;
    trace.Alloc(kBase, variable).Alloc(kBase + kMiB, batch);
    trace.Fail({"model/Relu", "[64,64,64,24]", 1, 24 * kMiB},
               {true, 32 * kMiB, ""});
    return Judge(trace);
  };
  EXPECT_NE(judge(true).FindRemedy("batches_from_host"), nullptr);
  EXPECT_EQ(judge(false).FindRemedy("batches_from_host"), nullptr);
}

TEST(CausesTest, AModelThatIsCalledOnAllOfAnArrayIsTold) {
  TraceBuilder trace;
  trace.Region(kBase, 32 * kMiB);
  trace.Alloc(kBase, {"", "", 0, 2000 * 12288});
  trace.SourceRecord(
      schema::kKeeperRecord, "",
      {test::Text(schema::kChain,
                  "EagerTensor 'input' in conv2d (gen_nn_ops.py:1434)"),
       test::U64(schema::kAddress, kBase)});
  Ask all = Eager("Conv2D", "[2000,32,32,32]");
  all.requested_bytes = 250 * kMiB;
  trace.Fail(all, {true, 32 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("one call works on all of it, 2,000 examples at once"));
  const Remedy* from_host = judged.FindRemedy("batches_from_host");
  ASSERT_NE(from_host, nullptr);
  EXPECT_THAT(from_host->code(), HasSubstr("not model(array)"));
  // A part of 32 examples asks for 4 MiB.
  EXPECT_EQ(from_host->sufficiency(), UNCERTAIN);
}

TEST(CausesTest, AWholeDataSetThatIsOneBatchIsTold) {
  TraceBuilder trace;
  trace.Region(kBase, 32 * kMiB);
  trace.Alloc(kBase, {"", "", 0, 12 * kMiB});
  trace.Step(0).StepId(7);
  trace.Alloc(kBase + 12 * kMiB,
              {"IteratorGetNext", "[1024,32,32,3]", 1, 12 * kMiB});
  trace.Fail({"model/Relu", "[1024,32,32,8]", 1, 32 * kMiB},
             {true, 32 * kMiB, ""});
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("12.0 MiB in 1 tensor came from NumPy as a whole"));
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("All of it is one batch, [1024,32,32,3]: set a "
                        "batch_size"));
  const Remedy* from_host = judged.FindRemedy("batches_from_host");
  ASSERT_NE(from_host, nullptr);
  EXPECT_EQ(from_host->bytes(), 12 * kMiB);
}

}  // namespace
}  // namespace oom_forensics
