#include "converter/counterfactual/counterfactual.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "converter/counterfactual/recorded_step.h"
#include "converter/counterfactual/successive_steps.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Two requests of 40 MiB at a batch of 4 that are held together, and one of
// 10 MiB that does not grow with the batch.
ForecastTrace TwoActivations() {
  ForecastTrace forecast;
  forecast.batch = 4;
  forecast.sites = {{0, 0, 1, 40 * kMiB, 10 * kMiB}, {0, 0, 1, 10 * kMiB, 0}};
  forecast.orders = {
      {"fifo",
       {{false, 1}, {false, 0}, {false, 0}, {true, 1}, {true, 2}, {true, 0}}}};
  return forecast;
}

// The same in an order that has only one of them at a time.
ForecastOrderTrace OneAtATime() {
  return {"lifo", {{false, 1}, {false, 0}, {true, 1}, {false, 0}, {true, 2}}};
}

// The step in a pool that holds a block of so many bytes.
Counterfactual Holding(uint64_t held_bytes, const ForecastTrace& forecast,
                       std::vector<bool> element_sites = {}) {
  StepStream stream;
  stream.held_bytes = held_bytes;
  stream.element_sites = std::move(element_sites);
  return {std::make_shared<const ForecastTrace>(forecast), std::move(stream)};
}

TEST(CounterfactualTest, TheNeedCountsWhatWasLiveBeforeTheStep) {
  const ForecastTrace forecast = TwoActivations();
  const Counterfactual model = Holding(20 * kMiB, forecast);
  EXPECT_EQ(model.live_bytes(), 20 * kMiB);
  const Need need = model.NeedOf(0);
  EXPECT_GE(need.low_bytes, 110 * kMiB);
  // A chunk below twice a request is not split, so more than the peak is
  // needed.
  EXPECT_LE(need.high_bytes, 180 * kMiB);
}

TEST(CounterfactualTest, ScratchWaitsUntilAnotherOpHasGivenBackItsOwn) {
  ForecastTrace forecast;
  forecast.sites = {{0, 0, 1, 40 * kMiB, 0}, {0, 0, 1, 36 * kMiB, 0}};
  forecast.orders = {{"fifo", {{false, 0}, {false, 1}, {true, 0}, {true, 1}}}};
  EXPECT_NE(Holding(0, forecast).FitOf(0, 70 * kMiB), Fit::kFits);
  forecast.sites[1].is_scratch = true;
  EXPECT_EQ(Holding(0, forecast).FitOf(0, 70 * kMiB), Fit::kFits);
  EXPECT_EQ(Holding(0, forecast).FitOf(0, 38 * kMiB), Fit::kDoesNotFit);
}

TEST(CounterfactualTest, WhoWaitsCountsOnTheScratchOfOpsThatRun) {
  ForecastTrace forecast;
  forecast.sites = {{1, 0, 1, 36 * kMiB, 0}, {2, 0, 1, 36 * kMiB, 0}};
  for (ForecastSite& site : forecast.sites) site.is_scratch = true;
  // The second op ends first, but cannot have begun.
  forecast.orders = {{"fifo", {{false, 0}, {false, 1}, {true, 1}, {true, 0}}}};
  EXPECT_EQ(Holding(0, forecast).FitOf(0, 44 * kMiB), Fit::kFits);
  forecast.sites[1].op = 1;
  EXPECT_EQ(Holding(0, forecast).FitOf(0, 44 * kMiB), Fit::kDoesNotFit)
      << "an op needs all of its own";
}

TEST(CounterfactualTest, OrdersMakeARange) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const Counterfactual model = Holding(0, forecast);
  const Need need = model.NeedOf(0);
  EXPECT_LT(need.low_bytes, 75 * kMiB);
  EXPECT_GE(need.high_bytes, 90 * kMiB);
}

TEST(CounterfactualTest, BetweenTheOrdersItIsUncertain) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const Counterfactual model = Holding(0, forecast);
  const Need need = model.NeedOf(0);
  EXPECT_EQ(model.FitOf(0, need.low_bytes - kMiB), Fit::kDoesNotFit);
  EXPECT_EQ(model.FitOf(0, need.low_bytes), Fit::kUncertain);
  EXPECT_EQ(model.FitOf(0, need.high_bytes + need.high_bytes / 8), Fit::kFits);
  EXPECT_EQ(model.FitOf(0, 0), Fit::kUnknown);
}

TEST(CounterfactualTest, WithOpsOfUnknownSizeItPromisesNothing) {
  ForecastTrace forecast = TwoActivations();
  forecast.unknown_count = 1;
  const Counterfactual model = Holding(0, forecast);
  EXPECT_EQ(model.FitOf(4, 1024 * kMiB), Fit::kUncertain);
}

TEST(CounterfactualTest, ABatchScalesWhatGrowsWithItOnly) {
  const ForecastTrace forecast = TwoActivations();
  const Counterfactual model = Holding(0, forecast);
  EXPECT_EQ(model.BytesOf(forecast.sites[0], 8), 80 * kMiB);
  EXPECT_EQ(model.BytesOf(forecast.sites[1], 8), 10 * kMiB);
  EXPECT_GT(model.NeedOf(8).low_bytes, model.NeedOf(4).low_bytes);
  EXPECT_LT(model.NeedOf(1).high_bytes, model.NeedOf(4).low_bytes);
}

TEST(CounterfactualTest, ABlockOfXlaIsScaledWithAMargin) {
  ForecastTrace forecast = TwoActivations();
  ForecastSite& block = forecast.sites[0];
  block.least_bytes = 15 * kMiB;
  const Counterfactual model = Holding(0, forecast);
  EXPECT_EQ(model.BytesOf(block, 2), 20 * kMiB);
  EXPECT_EQ(model.BytesOf(block, 1), 15 * kMiB)
      << "other buffers are the most then";
  block.is_laid_out_anew = true;
  EXPECT_EQ(model.BytesOf(block, 2), 20 * kMiB + 20 * kMiB / 50);
  EXPECT_EQ(model.BytesOf(block, 4), 40 * kMiB) << "as it was";
  block.per_example_bytes = 0;
  EXPECT_EQ(model.BytesOf(block, 2), 40 * kMiB) << "no more than it was";
}

TEST(CounterfactualTest, TheLargestBatchFitsAndTheNextDoesNot) {
  const ForecastTrace forecast = TwoActivations();
  const Counterfactual model = Holding(0, forecast);
  const uint64_t limit_bytes = 60 * kMiB;
  const int64_t batch = model.LargestBatch(limit_bytes, 16);
  ASSERT_GT(batch, 0);
  EXPECT_EQ(model.FitOf(batch, limit_bytes), Fit::kFits);
  EXPECT_NE(model.FitOf(batch + 1, limit_bytes), Fit::kFits);
}

// A step that gives a slot of 30 MiB a place of its own, once the 40 MiB of its
// activations are gone.
ForecastTrace FirstStepOfAnOptimizer() {
  ForecastTrace forecast;
  forecast.origin = "oom";
  forecast.sites = {{0, 0, 1, 40 * kMiB, 0}, {0, 0, 1, 30 * kMiB, 0}};
  forecast.orders = {{"fifo", {{false, 0}, {true, 0}, {false, 1}}}};
  return forecast;
}

TEST(CounterfactualTest, TheStepAfterTheFirstHasLessRoom) {
  const ForecastTrace forecast = FirstStepOfAnOptimizer();
  const Counterfactual model = Holding(0, forecast);
  EXPECT_EQ(model.OutcomeOf(0).peak_in_use_bytes, 70 * kMiB);
  EXPECT_GE(model.NeedOf(0).low_bytes, 70 * kMiB);
  // No later step asks for the slot again: four of them would not fit.
  EXPECT_EQ(model.FitOf(0, 150 * kMiB), Fit::kFits);
}

TEST(CounterfactualTest, ResultsOfARecordedStepTakeThePlaceOfWhatWasThere) {
  ForecastTrace forecast = FirstStepOfAnOptimizer();
  forecast.origin = kRecordedOrigin;
  const Counterfactual model = Holding(0, forecast);
  EXPECT_EQ(model.OutcomeOf(0).peak_in_use_bytes, 40 * kMiB);
}

TEST(CounterfactualTest, ThePromisedLimitHasASixteenthToSpare) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const Counterfactual model = Holding(20 * kMiB, forecast);
  const uint64_t enough_bytes = model.EnoughLimit(0);
  EXPECT_EQ(enough_bytes % kMiB, 0u);
  EXPECT_EQ(model.FitOf(0, enough_bytes), Fit::kFits);
  EXPECT_LE(
      static_cast<double>(enough_bytes),
      static_cast<double>(model.NeedOf(0).high_bytes) * 16 / 15 + 2.0 * kMiB);
}

TEST(CounterfactualTest, APipelineMayBeFurtherAheadThanItWas) {
  const ForecastTrace forecast = FirstStepOfAnOptimizer();
  const Counterfactual model = Holding(0, forecast, {true, false});
  const Need need = model.NeedOf(0);
  EXPECT_LT(need.low_bytes, 160 * kMiB) << "as it was";
  EXPECT_GE(need.high_bytes, 190 * kMiB) << "three elements more";
}

TEST(CounterfactualTest, WhatIsNotPromisedMayStillFitInOneOrder) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const Counterfactual model = Holding(0, forecast);
  const Need of_one = model.NeedOf(1);
  ASSERT_LT(of_one.low_bytes, of_one.high_bytes);
  EXPECT_EQ(model.LargestBatch(of_one.low_bytes, 16), 0);
  EXPECT_GE(model.LargestBatchToHopeFor(of_one.low_bytes * 9 / 8, 16), 1)
      << "with a sixteenth to spare";
}

TEST(CounterfactualTest, TheElementMadeAheadIsThereUntilTheNextStep) {
  const ForecastTrace forecast = FirstStepOfAnOptimizer();
  const Counterfactual model = Holding(0, forecast, {false, true});
  EXPECT_EQ(model.OutcomeOf(0).peak_in_use_bytes, 40 * kMiB);
}

constexpr uint64_t kBase = 0x10000000;

// A job whose pool grew for small tensors, then was refused 40 MiB; the step
// wants them twice. `orders` as the forecast has them.
std::unique_ptr<Run> RefusedRun(uint64_t limit_bytes, int orders) {
  test::TraceBuilder trace;
  trace.Region(kBase, 48 * kMiB);
  for (uint64_t i = 0; i < 3; ++i) {
    trace.Alloc(kBase + i * 8 * kMiB, {"batch", "", 1, 8 * kMiB});
  }
  trace.StepId(7).Alloc(kBase + 24 * kMiB, {"Relu", "", 1, kMiB});
  trace.Fail({"Relu", "", 1, 60 * kMiB}, {true, limit_bytes, ""});
  trace.Forecast("step", 7, 8 * kMiB, "IteratorGetNext", orders);
  return trace.Open();
}

// Of the only refusal.
Counterfactual StepOf(const AllocatorReplay& replay, uint64_t limit_bytes,
                      const ForecastTrace& forecast) {
  const Row failure = replay.failure_positions().front();
  return {std::make_shared<const ForecastTrace>(forecast),
          StreamOfRefusedStep(replay, failure, limit_bytes, forecast,
                              std::nullopt, nullptr)};
}

TEST(CounterfactualTest, WhatThePipelineMadeIsCountedOnceHoweverManyOrders) {
  std::vector<uint64_t> enough_bytes;
  for (const int orders : {1, 12}) {
    const auto run = RefusedRun(64 * kMiB, orders);
    const SharedHost host = run->Load(0);
    const AllocatorReplay& replay = *host->allocators()[0];
    const ForecastTrace& forecast =
        *ForecastOf(replay, replay.failure_positions().front());
    ASSERT_EQ(forecast.orders.size(), static_cast<size_t>(orders));
    const Counterfactual step = StepOf(replay, 64 * kMiB, forecast);
    // Three are live, of which the step has one.
    EXPECT_EQ(step.live_bytes(), 24 * kMiB) << orders;
    EXPECT_EQ(step.PeakOf(0).high_bytes, 24 * kMiB) << orders;
    enough_bytes.push_back(step.EnoughLimit(0));
  }
  EXPECT_EQ(enough_bytes[0], enough_bytes[1]);
}

TEST(CounterfactualTest, AForecastIsOfThePoolThatItWasMadeFor) {
  test::TraceBuilder device("GPU_0_bfc#0");
  test::TraceBuilder host("gpu_host_bfc#0");
  for (test::TraceBuilder* pool : {&device, &host}) {
    pool->Region(kBase, kMiB).StepId(7);
    pool->Fail({"Relu", "", 1, 8 * kMiB}, {true, kMiB, ""});
  }
  const auto run = device.Forecast("step", 7, 8 * kMiB).Open({&host});
  for (const auto& pool : run->Load(0)->allocators()) {
    const Row failure = pool->failure_positions().front();
    EXPECT_EQ(ForecastOf(*pool, failure) != nullptr,
              pool->trace().name == "GPU_0_bfc#0");
  }
}

TEST(CounterfactualTest, ARefusalThatNoOrderExplainsPromisesNothing) {
  const auto run = RefusedRun(64 * kMiB, 1);
  const SharedHost host = run->Load(0);
  const AllocatorReplay& replay = *host->allocators()[0];
  const ForecastTrace& forecast =
      *ForecastOf(replay, replay.failure_positions().front());
  const Counterfactual step = StepOf(replay, 64 * kMiB, forecast);
  EXPECT_TRUE(step.IsContradicted());
  EXPECT_EQ(step.FitOf(0, 1024 * kMiB), Fit::kUncertain);
  EXPECT_GE(step.NeedOf(0).low_bytes, 64 * kMiB);
}

// In an order of its own: `requests` of 40 MiB held together.
ForecastTrace Wanting(uint32_t requests) {
  ForecastTrace forecast;
  forecast.origin = "oom";
  forecast.step_id = 7;
  forecast.sites = {{0, 0, 1, 40 * kMiB, 0}};
  forecast.orders = {{"fifo", {}}};
  for (uint32_t i = 0; i < requests; ++i) {
    forecast.orders[0].events.push_back({false, 0});
  }
  for (uint32_t i = 0; i < requests; ++i) {
    forecast.orders[0].events.push_back({true, i});
  }
  return forecast;
}

TEST(CounterfactualTest, AStepThatHeldMoreOfAnOpThanAnyOrderPromisesNothing) {
  test::TraceBuilder trace;
  trace.Region(kBase, 64 * kMiB).StepId(7);
  for (uint64_t i = 0; i < 3; ++i) {
    trace.Alloc(kBase + i * 8 * kMiB, {"while/split", "", 1, 8 * kMiB});
  }
  trace.Fail({"while/split", "", 1, 60 * kMiB}, {true, 64 * kMiB, ""});
  const auto run = trace.Open();
  const SharedHost host = run->Load(0);
  const AllocatorReplay& replay = *host->allocators()[0];
  for (const uint32_t at_once : {2u, 3u}) {
    ForecastTrace forecast = Wanting(at_once);
    forecast.sites[0].op = replay.SiteOf(replay.failure_positions().front()).op;
    forecast.sites[0].requested_bytes = 8 * kMiB;
    // One that does not fit explains the refusal.
    forecast.sites.push_back({0, 0, 1, 60 * kMiB, 0});
    forecast.orders[0].events.push_back({false, 1});
    EXPECT_EQ(StepOf(replay, 64 * kMiB, forecast).IsContradicted(),
              at_once < 3);
  }
}

TEST(CounterfactualTest,
     TheStepMeetsThePiecesThatTheProgramLeftUnderThatLimit) {
  // Regions for what was live: two of 4 MiB, one of 8 and 16. In 100 MiB what
  // is left of the limit is one piece, in 60 MiB none is large enough.
  const auto run = RefusedRun(64 * kMiB, 1);
  const SharedHost host = run->Load(0);
  const Counterfactual step =
      StepOf(*host->allocators()[0], 64 * kMiB, Wanting(1));
  EXPECT_EQ(step.PeakOf(0).low_bytes, 64 * kMiB);
  EXPECT_EQ(step.FitOf(0, 63 * kMiB), Fit::kDoesNotFit);
  EXPECT_EQ(step.FitOf(0, step.EnoughLimit(0)), Fit::kFits);
  EXPECT_GT(step.EnoughLimit(0), 64 * kMiB)
      << "a piece of 48 MiB is there before the step, the rest of 64 MiB is "
         "less than 40";
}

TEST(CounterfactualTest, WhatIsLeftOutLeavesItsPlaceToTheStep) {
  const auto run = RefusedRun(64 * kMiB, 1);
  const SharedHost host = run->Load(0);
  const Counterfactual step =
      StepOf(*host->allocators()[0], 64 * kMiB, Wanting(1));
  Scenario without;
  without.is_left_out = [](Row row) { return row < 4; };
  const Counterfactual freed = step.Under(without);
  EXPECT_EQ(step.PeakOf(0).low_bytes - freed.PeakOf(0).low_bytes, 24 * kMiB);
  EXPECT_EQ(freed.FitOf(0, 64 * kMiB), Fit::kFits);
  EXPECT_EQ(step.FitOf(0, 64 * kMiB), Fit::kDoesNotFit);
}

// Two tensors at once, one after another; `marked`: within a training step.
std::unique_ptr<Run> EndedRun(bool marked) {
  test::TraceBuilder trace;
  trace.Region(kBase, 64 * kMiB).Alloc(kBase, {"weights", "", 1, 2 * kMiB});
  if (marked) trace.Step(5);
  for (const char* op : {"MatMul", "Relu"}) {
    trace.Alloc(kBase + 2 * kMiB, {op, "", 1, 8 * kMiB});
    trace.Alloc(kBase + 10 * kMiB, {op, "", 1, 16 * kMiB});
    trace.Free(kBase + 2 * kMiB).Free(kBase + 10 * kMiB);
  }
  if (marked) trace.EndStep();
  return trace.Open();
}

TEST(CounterfactualTest, ARecordingWithoutMarkedStepsIsOneStep) {
  for (const bool marked : {false, true}) {
    const auto run = EndedRun(marked);
    const SharedHost host = run->Load(0);
    const AllocatorReplay& replay = *host->allocators()[0];
    auto step = HeaviestStep(replay, host->Roles(replay), 64 * kMiB);
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->forecast.step_id, marked ? 5 : 0);
    EXPECT_EQ(step->forecast.function, marked ? "" : kWholeRecording);
    const Counterfactual asked(
        std::make_shared<const ForecastTrace>(step->forecast),
        std::move(step->stream));
    EXPECT_EQ(asked.live_bytes(), marked ? 2 * kMiB : 0);
    EXPECT_EQ(asked.PeakOf(0).high_bytes, 26 * kMiB);
  }
}

TEST(CounterfactualTest, TheRequestWithoutAPlaceIsNamed) {
  const auto run = RefusedRun(64 * kMiB, 1);
  const SharedHost host = run->Load(0);
  const OrderOutcome outcome =
      StepOf(*host->allocators()[0], 64 * kMiB, Wanting(2)).OutcomeOf(0);
  ASSERT_TRUE(outcome.refused_event.has_value());
  EXPECT_EQ(*outcome.refused_event, 0u);
  EXPECT_EQ(outcome.peak_in_use_bytes, 104 * kMiB);
}

}  // namespace
}  // namespace oom_forensics
