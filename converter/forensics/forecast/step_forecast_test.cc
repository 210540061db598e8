#include "converter/forensics/forecast/step_forecast.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "converter/forensics/successive_steps.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;

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

PoolBeforeStep Holding(std::vector<uint64_t> live_bytes) {
  PoolBeforeStep pool;
  pool.live_bytes = std::move(live_bytes);
  return pool;
}

TEST(StepForecastTest, TheNeedCountsWhatWasLiveBeforeTheStep) {
  const ForecastTrace forecast = TwoActivations();
  const StepForecastModel model(forecast, Holding({20 * kMiB}));
  EXPECT_EQ(model.live_bytes(), 20 * kMiB);
  const Need need = model.NeedOf(0);
  EXPECT_GE(need.low_bytes, 110 * kMiB);
  // A chunk below twice a request is not split, so more than the peak is
  // needed.
  EXPECT_LE(need.high_bytes, 180 * kMiB);
}

TEST(StepForecastTest, OrdersMakeARange) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const StepForecastModel model(forecast, Holding({}));
  const Need need = model.NeedOf(0);
  EXPECT_LT(need.low_bytes, 75 * kMiB);
  EXPECT_GE(need.high_bytes, 90 * kMiB);
}

TEST(StepForecastTest, BetweenTheOrdersItIsUncertain) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const StepForecastModel model(forecast, Holding({}));
  const Need need = model.NeedOf(0);
  EXPECT_EQ(model.FitOf(0, need.low_bytes - kMiB), Fit::kDoesNotFit);
  EXPECT_EQ(model.FitOf(0, need.high_bytes), Fit::kUncertain);
  EXPECT_EQ(model.FitOf(0, 2 * need.high_bytes), Fit::kFits);
  EXPECT_EQ(model.FitOf(0, 0), Fit::kUnknown);
}

TEST(StepForecastTest, ARefusalRaisesWhatIsForecastTooLow) {
  const ForecastTrace forecast = TwoActivations();
  PoolBeforeStep pool = Holding({});
  pool.limit_bytes = 1000 * kMiB;
  pool.refused_need_bytes = 1025 * kMiB;
  const StepForecastModel model(forecast, std::move(pool));
  EXPECT_TRUE(model.IsCorrected());
  // It would not have been refused else.
  EXPECT_GE(model.NeedOf(4).low_bytes, 1024 * kMiB);
  EXPECT_EQ(model.FitOf(4, 1000 * kMiB), Fit::kDoesNotFit);
  // By how much it is too low is not known: more has to be to spare.
  EXPECT_EQ(model.FitOf(4, 1300 * kMiB), Fit::kUncertain);
  EXPECT_EQ(model.FitOf(4, 1500 * kMiB), Fit::kFits);
  EXPECT_LT(model.NeedOf(1).high_bytes, model.NeedOf(4).low_bytes);
}

TEST(StepForecastTest, WhatAPoolInPiecesRefusedNeedsMoreThanThePool) {
  const ForecastTrace forecast = TwoActivations();
  PoolBeforeStep pool = Holding({});
  pool.limit_bytes = 1000 * kMiB;
  pool.refused_need_bytes = 50 * kMiB;
  const StepForecastModel model(forecast, std::move(pool));
  EXPECT_GE(model.NeedOf(4).low_bytes, 999 * kMiB);
  EXPECT_NE(model.FitOf(4, 1000 * kMiB), Fit::kFits);
}

TEST(StepForecastTest, WhatIsLeftOutOfThePoolIsNotNeeded) {
  const ForecastTrace forecast = TwoActivations();
  const StepForecastModel model(forecast, Holding({100 * kMiB}));
  const StepForecastModel without = model.With(Holding({}));
  // To the step in which a limit is sought.
  EXPECT_NEAR(static_cast<double>(model.NeedOf(4).low_bytes -
                                  without.NeedOf(4).low_bytes),
              100.0 * kMiB, 5.0 * kMiB);
}

TEST(StepForecastTest, WithOpsOfUnknownSizeItPromisesNothing) {
  ForecastTrace forecast = TwoActivations();
  forecast.unknown_count = 1;
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.FitOf(4, 1024 * kMiB), Fit::kUncertain);
}

TEST(StepForecastTest, ABatchScalesWhatGrowsWithItOnly) {
  const ForecastTrace forecast = TwoActivations();
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.BytesOf(forecast.sites[0], 8), 80 * kMiB);
  EXPECT_EQ(model.BytesOf(forecast.sites[1], 8), 10 * kMiB);
  EXPECT_GT(model.NeedOf(8).low_bytes, model.NeedOf(4).low_bytes);
  EXPECT_LT(model.NeedOf(1).high_bytes, model.NeedOf(4).low_bytes);
}

TEST(StepForecastTest, ABlockOfXlaIsScaledWithAMargin) {
  ForecastTrace forecast = TwoActivations();
  ForecastSite& block = forecast.sites[0];
  block.least_bytes = 15 * kMiB;
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.BytesOf(block, 2), 20 * kMiB);
  EXPECT_EQ(model.BytesOf(block, 1), 15 * kMiB)
      << "other buffers are the most then";
  block.is_laid_out_anew = true;
  EXPECT_EQ(model.BytesOf(block, 2), 20 * kMiB + 20 * kMiB / 50);
  EXPECT_EQ(model.BytesOf(block, 4), 40 * kMiB) << "as it was";
  block.per_example_bytes = 0;
  EXPECT_EQ(model.BytesOf(block, 2), 40 * kMiB) << "no more than it was";
}

TEST(StepForecastTest, TheLargestBatchFitsAndTheNextDoesNot) {
  const ForecastTrace forecast = TwoActivations();
  const StepForecastModel model(forecast, Holding({}));
  const uint64_t limit_bytes = 60 * kMiB;
  const int64_t batch = model.LargestBatch(limit_bytes, 16);
  ASSERT_GT(batch, 0);
  EXPECT_EQ(model.FitOf(batch, limit_bytes), Fit::kFits);
  EXPECT_NE(model.FitOf(batch + 1, limit_bytes), Fit::kFits);
}

TEST(StepForecastTest, ALargeBatchIsNamedAsAMultipleOfEight) {
  const ForecastTrace forecast = TwoActivations();
  const StepForecastModel model(forecast, Holding({}));
  const uint64_t limit_bytes = 600 * kMiB;
  const int64_t batch = model.LargestBatch(limit_bytes, 1000);
  EXPECT_GT(batch, 8);
  EXPECT_EQ(batch % 8, 0);
  EXPECT_EQ(model.FitOf(batch, limit_bytes), Fit::kFits);
  EXPECT_NE(model.FitOf(batch + 8, limit_bytes), Fit::kFits);
}

TEST(StepForecastTest, WhereNoBatchIsPromisedOneMayStillFit) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  const StepForecastModel model(forecast, Holding({}));
  const Need of_one = model.NeedOf(1);
  ASSERT_LT(of_one.low_bytes, of_one.high_bytes);
  EXPECT_EQ(model.LargestBatch(of_one.high_bytes, 16), 0);
  EXPECT_EQ(model.LargestBatchToHopeFor(of_one.high_bytes, 16), 1);
  // In the order that needs least.
  EXPECT_EQ(model.LargestBatchToHopeFor(of_one.low_bytes, 16), 1);
  EXPECT_EQ(model.LargestBatchToHopeFor(of_one.low_bytes - 1, 16), 0);
  EXPECT_GE(model.LargestBatchToHopeFor(model.NeedOf(3).high_bytes, 16), 3);
}

TEST(StepForecastTest, ABatchOfOneIsNotNamedWhereALargerOneNeedsNoMore) {
  ForecastTrace forecast = TwoActivations();
  forecast.batch = 64;
  // Scratch as large as the cache, whatever the batch; in one order more.
  forecast.sites = {{0, 0, 1, 64 * 16, 16},
                    {0, 0, 1, 60 * kMiB, 0},
                    {0, 0, 1, 300 * kMiB, 0}};
  forecast.orders = {
      {"fifo",
       {{false, 2}, {true, 0}, {false, 1}, {false, 0}, {true, 1}, {true, 2}}},
      OneAtATime()};
  const StepForecastModel model(forecast, Holding({}));
  const uint64_t limit_bytes = model.NeedOf(1).low_bytes + kMiB;
  EXPECT_EQ(model.LargestBatch(limit_bytes, 63), 0);
  EXPECT_GT(model.LargestBatchToHopeFor(limit_bytes, 63), 8);
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

TEST(StepForecastTest, TheStepAfterTheFirstHasLessRoom) {
  const ForecastTrace forecast = FirstStepOfAnOptimizer();
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.OutcomeOf(forecast.orders.front()).peak_in_use_bytes,
            70 * kMiB);
  EXPECT_GE(model.NeedOf(0).low_bytes, 70 * kMiB);
  // No later step asks for the slot again: four of them would not fit.
  EXPECT_EQ(model.FitOf(0, 150 * kMiB), Fit::kFits);
}

TEST(StepForecastTest, ResultsOfARecordedStepTakeThePlaceOfWhatWasThere) {
  ForecastTrace forecast = FirstStepOfAnOptimizer();
  forecast.origin = kRecordedOrigin;
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.OutcomeOf(forecast.orders.front()).peak_in_use_bytes,
            40 * kMiB);
}

TEST(StepForecastTest, TheElementMadeAheadIsThereUntilTheNextStep) {
  ForecastTrace forecast = FirstStepOfAnOptimizer();
  PoolBeforeStep pool = Holding({});
  pool.element_sites = {false, true};
  const StepForecastModel model(forecast, std::move(pool));
  EXPECT_EQ(model.OutcomeOf(forecast.orders.front()).peak_in_use_bytes,
            40 * kMiB);
  // There may be more of them, and sooner.
  EXPECT_EQ(model.FitOf(0, 100 * kMiB), Fit::kUncertain);
  EXPECT_EQ(model.FitOf(0, 160 * kMiB), Fit::kFits);
}

TEST(StepForecastTest, ADataSetThatIsOneBatchIsNotTakenForTheBatch) {
  constexpr uint64_t kBase = 0x10000000;
  test::TraceBuilder trace;
  trace.Region(kBase, 64 * kMiB);
  test::Ask from_numpy{"", "", 1, 20 * kMiB};
  from_numpy.eager = true;
  const test::Ask refused{"Relu", "", 1, 40 * kMiB};
  trace.Alloc(kBase, {"IteratorGetNext", "", 1, 256});
  trace.Alloc(kBase + 20 * kMiB, from_numpy);
  trace.StepId(7).Fail(refused, {true, 64 * kMiB, ""});
  trace.StepId(6).Alloc(kBase + 40 * kMiB, {"GatherV2", "", 1, 20 * kMiB});
  trace.StepId(8).Fail(refused, {true, 64 * kMiB, ""});
  const auto run = trace.Open();
  const SharedHost host = run->Load(0);
  const AllocatorReplay& replay = *host->allocators()[0];
  ForecastTrace forecast;
  forecast.sites = {{replay.SiteOf(1).op, 0, 1, 20 * kMiB, 0}};
  forecast.orders = {{"fifo", {{false, 0}}}};
  const auto live_before = [&](int64_t step_id) {
    forecast.step_id = step_id;
    const Row failure = replay.failure_positions()[step_id == 7 ? 0 : 1];
    return PoolBeforeRefusal(replay, failure, forecast, 0).live_bytes;
  };
  EXPECT_THAT(live_before(7), ElementsAre(256, 20 * kMiB))
      << "the batch is not made yet";
  EXPECT_THAT(live_before(8), ElementsAre(256, 20 * kMiB));
}

// With a batch of 8 MiB that the pipeline has made ahead of the step.
std::unique_ptr<Run> RunWithOrders(int orders) {
  constexpr uint64_t kBase = 0x10000000;
  test::TraceBuilder trace;
  trace.Region(kBase, 64 * kMiB);
  for (uint64_t i = 0; i < 3; ++i) {
    trace.Alloc(kBase + i * 8 * kMiB, {"batch", "", 1, 8 * kMiB});
  }
  trace.StepId(7).Alloc(kBase + 24 * kMiB, {"Relu", "", 1, kMiB});
  trace.Fail({"Relu", "", 1, 60 * kMiB}, {true, 64 * kMiB, ""});
  trace.Forecast("step", 7, 8 * kMiB, "IteratorGetNext", orders);
  return trace.Open();
}

TEST(StepForecastTest, ABatchMadeAheadIsCountedOnceHoweverManyOrdersThereAre) {
  for (const int orders : {1, 12}) {
    const auto run = RunWithOrders(orders);
    const SharedHost host = run->Load(0);
    const AllocatorReplay& replay = *host->allocators()[0];
    const Row failure = replay.failure_positions().front();
    const ForecastTrace& forecast = *ForecastOf(replay, failure);
    ASSERT_EQ(forecast.orders.size(), static_cast<size_t>(orders));
    PoolBeforeStep pool = PoolBeforeRefusal(replay, failure, forecast, 0);
    EXPECT_THAT(pool.live_bytes, ElementsAre(8 * kMiB, 8 * kMiB))
        << orders << " orders take one batch away, not one each";
    pool.refused_need_bytes = 0;
    const StepForecastModel model(forecast, std::move(pool));
    // Three more batches and a fifth above the 24 MiB.
    EXPECT_LE(model.EnoughLimit(0), 56 * kMiB) << orders;
  }
}

TEST(StepForecastTest, TheBatchToHopeForNeedsRoomInOneOrderOnly) {
  ForecastTrace forecast = TwoActivations();
  forecast.orders.push_back(OneAtATime());
  // Scratch of the first order, whatever the batch.
  forecast.sites.push_back({0, 0, 1, 200 * kMiB, 0});
  forecast.orders.front().events.insert(forecast.orders.front().events.begin(),
                                        {{false, 2}, {true, 0}});
  for (size_t i = 2; i < forecast.orders.front().events.size(); ++i) {
    ForecastEvent& event = forecast.orders.front().events[i];
    if (event.is_free) ++event.index;
  }
  const StepForecastModel model(forecast, Holding({}));
  EXPECT_EQ(model.LargestBatch(150 * kMiB, 16), 0);
  const int64_t batch = model.LargestBatchToHopeFor(150 * kMiB, 16);
  EXPECT_GT(batch, 1);
  EXPECT_EQ(model.FitOf(batch, 150 * kMiB), Fit::kUncertain);
  EXPECT_LT(1.2 * static_cast<double>(model.NeedOf(batch).low_bytes),
            150.0 * kMiB);
}

TEST(StepForecastTest, APoolThatBeganInSmallPiecesNeedsMoreThanOneThatGrows) {
  const ForecastTrace forecast = TwoActivations();
  PoolBeforeStep pool = Holding({20 * kMiB});
  const uint64_t enough_bytes =
      StepForecastModel(forecast, pool).EnoughLimit(4);
  // Before the step a program made variables: no piece holds 40 MiB.
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t address = 0x10000000 + i * 64 * kMiB;
    pool.layout.push_back(
        {address, 36 * kMiB, {{address, 36 * kMiB, Block::kFree, 0}}});
  }
  const StepForecastModel model(forecast, std::move(pool));
  EXPECT_EQ(model.FitOf(4, enough_bytes), Fit::kUncertain);
  EXPECT_GT(model.EnoughLimit(4), enough_bytes);
  EXPECT_EQ(model.FitOf(4, model.EnoughLimit(4)), Fit::kFits);
}

TEST(StepForecastTest, WhatTracingTookBeforeABlockOfXlaIsThereInAnyLimit) {
  const ForecastTrace forecast = TwoActivations();
  PoolBeforeStep pool = Holding({20 * kMiB});
  const uint64_t enough_bytes =
      StepForecastModel(forecast, pool).EnoughLimit(4);
  pool.layout = {{0x10000000, 20 * kMiB, {}}};
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t address = 0x10000000 + i * 64 * kMiB;
    pool.pieces_at_refusal.push_back(
        {address, 36 * kMiB, {{address, 36 * kMiB, Block::kFree, 0}}});
  }
  const StepForecastModel model(forecast, std::move(pool));
  EXPECT_EQ(model.FitOf(4, enough_bytes), Fit::kUncertain);
}

TEST(StepForecastTest, InTheRecordedMapTheRequestWithoutAPlaceIsNamed) {
  const ForecastTrace forecast = TwoActivations();
  PoolBeforeStep pool = Holding({20 * kMiB});
  pool.limit_bytes = 64 * kMiB;
  pool.settings.allow_growth = false;
  pool.layout = {{0x1000000,
                  64 * kMiB,
                  {{0x1000000, 20 * kMiB, 0, 0},
                   {0x1000000 + 20 * kMiB, 44 * kMiB, Block::kFree, 0}}}};
  const StepForecastModel model(forecast, std::move(pool));
  const OrderOutcome outcome = model.OutcomeOf(forecast.orders.front());
  ASSERT_TRUE(outcome.refused_event.has_value());
  EXPECT_EQ(*outcome.refused_event, 1u);
  EXPECT_EQ(outcome.peak_in_use_bytes, 110 * kMiB);
}

}  // namespace
}  // namespace oom_forensics
