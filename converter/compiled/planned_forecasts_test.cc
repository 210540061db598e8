#include "converter/compiled/planned_forecasts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "converter/compiled/module_plan.h"

namespace oom_forensics {
namespace {

constexpr char kModule[] = "a_inference_step_12__.7";

// A trace with one module: a block of 1000 bytes, of which each of 10 examples
// takes 90, a result of 40 and one of 16 that may be written over its argument.
class PlanRunsTest : public testing::Test {
 protected:
  PlanRunsTest() {
    CompiledModule& module = trace_.modules.emplace_back();
    module.name = kModule;
    module.function = "step";
    module.program_id = 3;
    module.program.resize(5);
    CompiledAllocation block = Allocation(0, BufferKind::kTemp, 1000);
    CompiledBuffer activation;
    activation.shape = "[10,90]";
    activation.size_bytes = 900;
    block.buffers.push_back(activation);
    module.allocations.push_back(block);
    module.allocations.push_back(Allocation(1, BufferKind::kParameter, 16));
    module.allocations.push_back(Allocation(2, BufferKind::kOutput, 40));
    module.fresh_results.push_back(Allocation(1, BufferKind::kOutput, 16));
    forecast_.batch = 10;
  }

  static CompiledAllocation Allocation(int64_t index, BufferKind kind,
                                       uint64_t bytes) {
    CompiledAllocation allocation;
    allocation.index = index;
    allocation.kind = kind;
    allocation.size_bytes = bytes;
    return allocation;
  }

  void AddRun(const std::string& module = kModule) {
    runs_.push_back({forecast_.sites.size(), module, 3});
    forecast_.sites.emplace_back();
  }
  void AddOp(uint64_t bytes) {
    ForecastSite site;
    site.op = trace_.strings.Intern("MatMul");
    site.requested_bytes = bytes;
    forecast_.sites.push_back(site);
  }
  void AddOrder(std::vector<ForecastEvent> events) {
    forecast_.orders.push_back({"fifo", std::move(events)});
  }

  const ForecastTrace& Planned() {
    PlanRuns(runs_, &trace_, &forecast_);
    return forecast_;
  }
  // For an order: sizes as they are asked for, and the negative of what is
  // freed.
  static std::vector<int64_t> Sizes(const ForecastTrace& forecast,
                                    size_t order) {
    std::vector<int64_t> sizes;
    std::vector<int64_t> got;
    for (const ForecastEvent& event : forecast.orders[order].events) {
      if (!event.is_free) {
        got.push_back(
            static_cast<int64_t>(forecast.sites[event.index].requested_bytes));
      }
      sizes.push_back(event.is_free ? -got[event.index] : got.back());
    }
    return sizes;
  }

  HostTrace trace_;
  ForecastTrace forecast_;
  std::vector<ModuleRun> runs_;
};

TEST_F(PlanRunsTest, AStepThatXlaCompiledWholeIsToldBothWays) {
  AddRun();
  AddOrder({{false, 0}, {true, 0}});
  const ForecastTrace& forecast = Planned();
  EXPECT_TRUE(forecast.planned);
  EXPECT_EQ(forecast.op_count, 5u);
  ASSERT_EQ(forecast.orders.size(), 3u);
  EXPECT_EQ(forecast.orders[0].name, kFreshResultsOrder);
  EXPECT_EQ(Sizes(forecast, 0),
            (std::vector<int64_t>{1000, 40, 16, -1000, -40, -16}));
  EXPECT_EQ(forecast.orders[1].name, kPlannedOrder);
  EXPECT_EQ(Sizes(forecast, 1), (std::vector<int64_t>{1000, 40, -1000, -40}));
  EXPECT_EQ(forecast.orders[2].name, kSureOrder);
  EXPECT_EQ(Sizes(forecast, 2), Sizes(forecast, 0))
      << "at this batch it is the same plan";
}

TEST_F(PlanRunsTest, AGraphAroundItThatTakesNextToNothingIsNoOtherStep) {
  AddOp(4);
  AddRun();
  AddOrder({{false, 0}, {false, 1}, {true, 0}, {true, 1}});
  AddOrder({{false, 1}, {false, 0}, {true, 1}, {true, 0}});
  const ForecastTrace& forecast = Planned();
  EXPECT_TRUE(forecast.planned);
  ASSERT_EQ(forecast.orders.size(), 3u) << "none of the graph's own";
  EXPECT_EQ(Sizes(forecast, 1),
            (std::vector<int64_t>{4, 1000, 40, -4, -1000, -40}));
}

TEST_F(PlanRunsTest, WhatABatchTakesOfABlockIsInTheShapesOfItsBuffers) {
  AddRun();
  AddOrder({{false, 0}});
  const ForecastTrace& forecast = Planned();
  EXPECT_EQ(forecast.sites[0].per_example_bytes, 90u);
  EXPECT_EQ(trace_.strings.Get(forecast.sites[0].op), "step/xla_temp");
}

TEST_F(PlanRunsTest, WithinAGraphItsResultsLieBesideTheArguments) {
  AddOp(700);
  AddRun();
  AddOrder({{false, 0}, {false, 1}, {true, 0}, {false, 0}, {true, 1}});
  const ForecastTrace& forecast = Planned();
  EXPECT_FALSE(forecast.planned);
  ASSERT_EQ(forecast.orders.size(), 1u);
  EXPECT_EQ(forecast.orders[0].name, "fifo");
  EXPECT_EQ(Sizes(forecast, 0), (std::vector<int64_t>{700, 1000, 40, 16, -700,
                                                      700, -1000, -40, -16}));
}

TEST_F(PlanRunsTest, AModuleThatTheTraceDoesNotHaveIsSaid) {
  AddRun("a_inference_other_3__.1");
  AddOrder({{false, 0}, {true, 0}});
  const ForecastTrace& forecast = Planned();
  EXPECT_TRUE(forecast.orders.empty());
  EXPECT_EQ(forecast.reason,
            "the run does not have the module that XLA compiled for it.");
}

}  // namespace
}  // namespace oom_forensics
