#include "converter/hlo/compiled_module.h"

#include <gtest/gtest.h>

#include <numeric>

#include "converter/hlo/op_names.h"

namespace oom_forensics {
namespace {

// A program of one computation, written down as a user of XLA reads it.
class GraphBuilder {
 public:
  GraphBuilder() {
    graph_.name = "a_inference_train_step_7__.3";
    graph_.entry = 0;
    graph_.computations.emplace_back();
    graph_.allocations.emplace_back();
  }

  HloIndex Add(std::string_view name, std::string_view opcode,
               std::string_view op_name, std::vector<HloIndex> operands) {
    const auto index = static_cast<HloIndex>(graph_.instructions.size());
    HloInstruction instruction;
    instruction.name = name;
    instruction.opcode = opcode;
    instruction.op_name = op_name;
    instruction.operands = std::move(operands);
    instruction.computation = 0;
    graph_.instructions.push_back(instruction);
    graph_.computations[0].instructions.push_back(index);
    graph_.computations[0].sequence.push_back(index);
    graph_.computations[0].root = index;
    return index;
  }

  // A place in the one allocation for what an instruction makes.
  void Place(HloIndex instruction, uint64_t offset_bytes, uint64_t size_bytes) {
    HloBuffer buffer;
    buffer.instruction = instruction;
    buffer.element_type = 11;  // F32
    buffer.dims = {static_cast<int64_t>(size_bytes / 4)};
    graph_.allocations[0].assigned.push_back(
        {static_cast<uint32_t>(graph_.buffers.size()), offset_bytes,
         size_bytes});
    graph_.buffers.push_back(buffer);
  }

  HloGraph& graph() { return graph_; }
  CompiledAllocation Make(uint64_t size_bytes) {
    graph_.allocations[0].size_bytes = size_bytes;
    return MakeCompiledModule(graph_, 7).allocations[0];
  }

 private:
  HloGraph graph_;
};

uint64_t SumOf(const std::vector<BlockPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const BlockPart& part) {
                           return sum + part.size_bytes;
                         });
}

TEST(CompiledModuleTest, PartsOfThePeakAndTheGapsAddUpToTheBlock) {
  GraphBuilder builder;
  const HloIndex input = builder.Add("arg0", "parameter", "XLA_Args", {});
  const HloIndex first = builder.Add("dot.1", "dot", "mix_0/MatMul", {input});
  const HloIndex second = builder.Add("dot.2", "dot", "mix_1/MatMul", {first});
  builder.Add("sum", "add", "head/Add", {first, second});
  builder.Place(first, 0, 400);
  builder.Place(second, 512, 400);
  const CompiledAllocation block = builder.Make(1000);
  const std::vector<BlockPart> parts = block.PartsAt(block.peak);
  ASSERT_EQ(parts.size(), 4);
  EXPECT_EQ(SumOf(parts), 1000);
  EXPECT_EQ(parts[1].buffer, BlockPart::kUnused);
  EXPECT_EQ(parts[1].size_bytes, 112);
  EXPECT_EQ(parts[3].size_bytes, 88);
  EXPECT_EQ(block.LiveBytesAt(block.peak), 800);
}

TEST(CompiledModuleTest, BuffersThatAreNotNeededTogetherShareAPlace) {
  GraphBuilder builder;
  const HloIndex input = builder.Add("arg0", "parameter", "", {});
  const HloIndex first = builder.Add("a", "dot", "mix_0/MatMul", {input});
  const HloIndex second = builder.Add("b", "dot", "mix_1/MatMul", {first});
  const HloIndex third = builder.Add("c", "dot", "mix_2/MatMul", {second});
  builder.Add("d", "add", "head/Add", {third});
  builder.Place(first, 0, 256);
  builder.Place(second, 256, 256);
  builder.Place(third, 0, 256);
  const CompiledAllocation block = builder.Make(512);
  EXPECT_EQ(block.buffers[0].live.first, 1);
  EXPECT_EQ(block.buffers[0].live.last, 2);
  EXPECT_EQ(block.buffers[2].live.first, 3);
  for (ProgramPoint point = 0; point < 5; ++point) {
    EXPECT_EQ(SumOf(block.PartsAt(point)), 512) << point;
  }
  EXPECT_EQ(block.LiveBytesAt(block.peak), 512);
}

TEST(CompiledModuleTest, AValueLivesOnThroughATuple) {
  GraphBuilder builder;
  const HloIndex made = builder.Add("a", "dot", "mix/MatMul", {});
  const HloIndex tuple = builder.Add("t", "tuple", "", {made});
  builder.Add("other", "dot", "mix/MatMul_1", {});
  const HloIndex element = builder.Add("e", "get-tuple-element", "", {tuple});
  builder.Add("use", "add", "head/Add", {element});
  builder.Place(made, 0, 256);
  const CompiledAllocation block = builder.Make(256);
  EXPECT_EQ(block.buffers[0].live.last, 4);
  EXPECT_EQ(block.buffers[0].last_user, "use");
}

TEST(CompiledModuleTest, WhatALoopCarriesLivesUntilItEnds) {
  GraphBuilder builder;
  const HloIndex start = builder.Add("start", "broadcast", "init/zeros", {});
  const HloIndex loop = builder.Add("loop", "while", "rnn/while", {start});
  builder.Add("use", "add", "head/Add", {loop});
  HloGraph& graph = builder.graph();
  graph.computations.emplace_back();
  HloInstruction state;
  state.name = "state";
  state.opcode = "parameter";
  state.computation = 1;
  const auto parameter = static_cast<HloIndex>(graph.instructions.size());
  graph.instructions.push_back(state);
  graph.computations[1] = {parameter, {parameter}, {parameter}};
  graph.instructions[loop].called = {1};
  builder.Place(start, 0, 256);
  const CompiledAllocation block = builder.Make(256);
  // start, state, loop, use: the loop hands it on unchanged.
  EXPECT_EQ(block.buffers[0].live.first, 0);
  EXPECT_EQ(block.buffers[0].live.last, 3);
}

TEST(CompiledModuleTest, AnActivationThatTheBackwardPassReadsIsHeldForIt) {
  GraphBuilder builder;
  const HloIndex made = builder.Add("a", "dot", "mix/MatMul", {});
  const HloIndex next = builder.Add("b", "dot", "head/MatMul", {made});
  builder.Add("c", "dot", "gradient_tape/mix/MatMul/MatMul_1", {made, next});
  builder.Place(made, 0, 256);
  builder.Place(next, 256, 256);
  const CompiledAllocation block = builder.Make(512);
  EXPECT_TRUE(block.buffers[0].held_for_backward);
  EXPECT_TRUE(block.buffers[0].has_gradient);
}

TEST(CompiledModuleTest,
     AResultOverAnArgumentIsNamedForWhereItIsAskedForApart) {
  GraphBuilder builder;
  const HloIndex old = builder.Add("arg0", "parameter", "XLA_Args", {});
  const HloIndex loss = builder.Add("loss", "reduce", "loss/Mean", {});
  const HloIndex made = builder.Add("new", "fusion", "adam/Sub", {old});
  builder.Add("results", "tuple", "", {loss, made});
  builder.Place(old, 0, 256);
  builder.Place(made, 0, 256);
  HloGraph& graph = builder.graph();
  graph.allocations[0].index = 4;
  graph.allocations[0].size_bytes = 256;
  graph.allocations[0].is_parameter = true;
  graph.aliases.push_back({{1}, 0});
  const CompiledModule module = MakeCompiledModule(graph, 7);
  ASSERT_EQ(module.fresh_results.size(), 1u);
  const CompiledAllocation& result = module.fresh_results[0];
  EXPECT_EQ(result.index, 4);
  EXPECT_EQ(result.kind, BufferKind::kOutput);
  EXPECT_EQ(result.size_bytes, 256u);
  ASSERT_EQ(result.buffers.size(), 1u);
  EXPECT_EQ(result.buffers[0].op_name, "adam/Sub");
  EXPECT_EQ(SumOf(result.PartsAt(result.peak)), 256u);
}

TEST(CompiledModuleTest, AliasesThatPointNowhereAreLeftOut) {
  GraphBuilder builder;
  const HloIndex old = builder.Add("arg0", "parameter", "XLA_Args", {});
  builder.Add("results", "tuple", "", {old});
  builder.Place(old, 0, 256);
  HloGraph& graph = builder.graph();
  graph.allocations[0].size_bytes = 256;
  graph.allocations[0].is_parameter = true;
  // No such argument, no such result, the same argument again.
  graph.aliases = {{{0}, 9}, {{5}, 0}, {{-1}, 0}};
  const CompiledModule module = MakeCompiledModule(graph, 7);
  ASSERT_EQ(module.fresh_results.size(), 1u);
  EXPECT_TRUE(module.fresh_results[0].buffers.empty());
}

TEST(CompiledModuleTest, APlaceOutsideItsAllocationIsLeftOut) {
  GraphBuilder builder;
  const HloIndex made = builder.Add("a", "dot", "mix/MatMul", {});
  builder.Place(made, 200, 100);
  builder.Place(made, ~uint64_t{0}, 8);
  builder.Place(made, 0, 0);
  EXPECT_TRUE(builder.Make(256).buffers.empty());
}

TEST(CompiledModuleTest, ModulesThatRunInCirclesAreRead) {
  GraphBuilder builder;
  const HloIndex a = builder.Add("a", "tuple", "", {});
  const HloIndex b = builder.Add("b", "tuple", "", {a});
  builder.graph().instructions[a].operands = {b};
  builder.graph().instructions[a].called = {0};
  builder.Place(a, 0, 256);
  EXPECT_EQ(SumOf(builder.Make(256).PartsAt(0)), 256);
}

TEST(CompiledModuleTest, WithoutAScheduleAllCountsAsLive) {
  GraphBuilder builder;
  const HloIndex made = builder.Add("a", "dot", "mix/MatMul", {});
  builder.Place(made, 0, 100);
  builder.graph().computations[0].sequence.clear();
  const CompiledModule module = [&] {
    builder.Make(256);
    return MakeCompiledModule(builder.graph(), 7);
  }();
  EXPECT_FALSE(module.has_schedule);
  EXPECT_EQ(SumOf(module.allocations[0].PartsAt(0)), 256);
}

TEST(OpNamesTest, AFunctionGoesByTheNameThatItsAuthorGaveIt) {
  EXPECT_EQ(FunctionOfModule("a_inference_one_step_on_data_3049__.12"),
            "one_step_on_data");
  EXPECT_EQ(FunctionOfModule(
                "a_inference_train_step_1412__XlaMustCompile_true_config_.15"),
            "train_step");
  EXPECT_EQ(FunctionOfModule("cluster_3__XlaCompiledKernel_true__Xla_.1"),
            "cluster_3");
  EXPECT_EQ(FunctionOfModule(""), "");
}

}  // namespace
}  // namespace oom_forensics
