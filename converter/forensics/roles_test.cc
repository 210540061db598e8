#include "converter/forensics/roles.h"

#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::TraceBuilder;

Ask Float(const std::string& op, const std::string& shape, uint64_t bytes) {
  return {op, shape, 1, bytes};
}

// A Keras job as TensorFlow records it: eager variables, an optimizer's slots,
// then steps of a graph.
class RolesTest : public ::testing::Test {
 protected:
  RolesTest() {
    trace_.StepId(1);
    kernel_ = Alloc(Float("AddV2", "[64,10]", 2560));
    bias_ = Alloc(Float("Fill", "[10]", 40));
    Alloc(Float("AddV2", "[5,5]", 100));
    trace_.StepId(2);
    slot_ = Alloc({"adam/kernel_momentum/Initializer/zeros", "", 0, 2560});
    for (int step = 0; step < 2; ++step) {
      trace_.StepId(3 + step).Step(step);
      activation_ = Alloc(Float("call/model/dense/Relu", "[24,64]", 6144));
      gradient_ = Alloc(
          Float("gradient_tape/model/dense/MatMul/MatMul_1", "[64,10]", 2560));
      square_ = Alloc(Float("adam/Square_1", "[64,10]", 2560));
      Free(square_);
    }
    trace_.EndStep();
    trace_.Alloc(0x100, Float("Cast", "[]", 4));
    run_ = trace_.Open();
  }

  Role RoleOf(Row row) const {
    const HostAnalysis& host = *run_->Load(0);
    return host.Roles(*host.allocators()[0]).RoleOf(row);
  }

  // Each allocation has an address of its own; rows are in order.
  static uint64_t AddressOf(Row row) { return 0x10000 * (uint64_t{row} + 1); }
  Row Alloc(const Ask& ask) {
    trace_.Alloc(AddressOf(next_row_), ask);
    return next_row_++;
  }
  void Free(Row row) {
    trace_.Free(AddressOf(row));
    ++next_row_;
  }

  TraceBuilder trace_;
  std::unique_ptr<oom_forensics::Run> run_;
  Row next_row_ = 0;
  Row kernel_, bias_, slot_, activation_, gradient_, square_;
};

TEST_F(RolesTest, AVariableIsWhatAnOptimizerUpdates) {
  EXPECT_EQ(RoleOf(kernel_), ROLE_VARIABLE);
}

TEST_F(RolesTest, ASlotIsKnownByItsName) {
  EXPECT_EQ(RoleOf(slot_), ROLE_OPTIMIZER);
}

TEST_F(RolesTest, GradientsAndActivationsAreKnownByTheirScope) {
  EXPECT_EQ(RoleOf(gradient_), ROLE_GRADIENT);
  EXPECT_EQ(RoleOf(activation_), ROLE_ACTIVATION);
}

TEST_F(RolesTest, WhatAnUpdateMakesAndDropsIsItsWorkspace) {
  EXPECT_EQ(RoleOf(square_), ROLE_WORKSPACE);
}

TEST_F(RolesTest, WhatNothingShowsStaysUnknown) {
  EXPECT_EQ(RoleOf(bias_), ROLE_UNKNOWN);
}

}  // namespace
}  // namespace oom_forensics
