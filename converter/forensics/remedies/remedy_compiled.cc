// Remedies for a block that XLA asked for: it needs in one piece what the step
// needs together.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/bfc/bfc_model.h"
#include "converter/counterfactual/pool_settings.h"
#include "converter/forensics/block_content.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/text/text.h"
#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Part of a block that must be held for the backward pass before recomputing it
// is worth its time.
constexpr double kMinHeldShare = 0.2;
// Recomputing keeps the inputs of what is recomputed, and one layer at a time:
// taken to give back half of what is held.
constexpr uint64_t kHeldDivisor = 2;
// A last, smaller batch makes two.
constexpr size_t kManyModules = 3;
constexpr size_t kNamedShapes = 4;

// How not to compile it.
std::string CodeWithoutXla(const std::string& function) {
  if (StartsWith(function, "cluster_")) {
    return "TF_XLA_FLAGS=--tf_xla_auto_jit=0";
  }
  // Keras's own, whatever the model.
  if (EndsWith(function, "_on_data")) {
    return "model.compile(..., jit_compile=False)";
  }
  return absl::StrCat("@tf.function  # without jit_compile=True\ndef ",
                      function, "(...):");
}

// The shape of each argument of a module, by its number.
using ArgumentShapes = std::map<int64_t, std::string>;

ArgumentShapes ShapesOf(const CompiledModule& module) {
  ArgumentShapes shapes;
  for (const CompiledAllocation& allocation : module.allocations) {
    if (allocation.kind != BufferKind::kParameter ||
        allocation.buffers.empty()) {
      continue;
    }
    const CompiledBuffer& buffer = allocation.buffers.front();
    shapes[allocation.parameter_number] =
        absl::StrCat(DtypeName(buffer.dtype), buffer.shape);
  }
  return shapes;
}

// The modules of a function that differ in the shapes of their arguments only.
struct Retraced {
  std::vector<const CompiledModule*> modules;
  // The shapes of the argument that differs most, each once.
  std::vector<std::string> shapes;
};

Retraced RetracedModules(const HostTrace& host, const std::string& function) {
  // Training and evaluating have another number of arguments.
  std::map<size_t, std::map<ArgumentShapes, const CompiledModule*>> by_count;
  for (const CompiledModule& module : host.modules) {
    if (module.function != function) continue;
    ArgumentShapes shapes = ShapesOf(module);
    const size_t count = shapes.size();
    by_count[count].try_emplace(std::move(shapes), &module);
  }
  Retraced retraced;
  for (const auto& [count, modules] : by_count) {
    if (modules.size() <= retraced.modules.size()) continue;
    retraced = {};
    std::map<int64_t, std::vector<std::string>> seen;
    for (const auto& [shapes, module] : modules) {
      retraced.modules.push_back(module);
      for (const auto& [number, shape] : shapes) {
        std::vector<std::string>& known = seen[number];
        if (std::find(known.begin(), known.end(), shape) == known.end()) {
          known.push_back(shape);
        }
      }
    }
    for (auto& [number, shapes] : seen) {
      if (shapes.size() > retraced.shapes.size()) {
        retraced.shapes = std::move(shapes);
      }
    }
  }
  return retraced;
}

}  // namespace

std::optional<RemedyCandidate> RecomputeInBlock(const OomCase& oom) {
  const CompiledAllocation* block = oom.block();
  if (block == nullptr) return std::nullopt;
  const BlockContent content = ContentOf(*block, block->peak);
  const uint64_t held_bytes = content.held_for_backward_bytes();
  if (static_cast<double>(held_bytes) <
      kMinHeldShare * static_cast<double>(block->size_bytes)) {
    return std::nullopt;
  }
  const uint64_t freed_bytes = held_bytes / kHeldDivisor;
  RemedyCandidate candidate;
  candidate.remedy.set_kind("gradient_checkpointing");
  candidate.remedy.set_title(
      "Recompute the layers' activations in the backward pass instead of "
      "keeping them.");
  candidate.remedy.set_detail(absl::StrCat(
      FormatBytes(held_bytes), " of the block of ",
      FormatBytes(block->size_bytes),
      " are made by the forward pass and kept until their gradients are "
      "computed; first those of ",
      content.by_scope().empty() ? "" : content.by_scope(0).key(),
      ". About half of it is freed, at the cost of a second forward pass."));
  candidate.remedy.set_bytes(freed_bytes);
  candidate.remedy.set_code(
      "with keras.RematScope(mode=\"full\"):  # Keras 3.9 and newer; else "
      "tf.recompute_grad(f)\n    model = make_model()");
  candidate.is_estimate = true;
  Scenario scenario;
  const Row failure = oom.failure();
  scenario.resized = [failure, freed_bytes](Row row, uint64_t bytes) {
    return row == failure && bytes > freed_bytes ? bytes - freed_bytes : bytes;
  };
  candidate.scenario = std::move(scenario);
  return candidate;
}

std::optional<RemedyCandidate> JitCompileOff(const OomCase& oom) {
  const CompiledAllocation* block = oom.block();
  if (block == nullptr || !oom.what_if().IsFaithful()) return std::nullopt;
  const BfcSettings& settings = oom.what_if().settings();
  const PoolState pool = PoolAt(oom.replay(), oom.failure());
  BfcModel model(settings, nullptr, pool.regions, pool.chunks,
                 NextRegionBytes(settings, pool.region_sizes_bytes));
  std::vector<const CompiledBuffer*> pieces;
  for (const BlockPart& part : block->PartsAt(block->peak)) {
    if (part.buffer == BlockPart::kUnused) continue;
    pieces.push_back(&block->buffers[part.buffer]);
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const CompiledBuffer* a, const CompiledBuffer* b) {
                     return a->live.first < b->live.first;
                   });
  for (const CompiledBuffer* piece : pieces) {
    if (model.Allocate(piece->size_bytes) == kNoChunk) return std::nullopt;
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("jit_compile_off");
  candidate.remedy.set_title("Do not compile with XLA here.");
  candidate.remedy.set_detail(
      absl::StrCat("XLA asks for the ", FormatCount(pieces.size()),
                   " tensors that it needs together as one block of ",
                   FormatBytes(block->size_bytes),
                   "; TensorFlow without XLA requests each one separately, so "
                   "they can lie in different gaps."));
  candidate.remedy.set_code(CodeWithoutXla(
      oom.host().strings.Get(oom.host().CompiledOf(oom.site())->function)));
  candidate.remedy.set_sufficiency(UNCERTAIN);
  candidate.remedy.set_proof(absl::StrCat(
      "Placed in a model of TensorFlow's allocator as it stood: all ",
      FormatCount(pieces.size()),
      " buffers of the block's own peak, one by one, though the block did not "
      "fit. Without XLA fewer ops are fused, so more tensors than these may be "
      "live at a time."));
  return candidate;
}

std::optional<RemedyCandidate> CompileOnce(const OomCase& oom) {
  const CompiledRequest* request = oom.host().CompiledOf(oom.site());
  if (request == nullptr) return std::nullopt;
  const std::string& function = oom.host().strings.Get(request->function);
  Retraced retraced = RetracedModules(oom.host(), function);
  if (retraced.modules.size() < kManyModules) return std::nullopt;
  uint64_t constant_bytes = 0;
  for (const CompiledModule* module : retraced.modules) {
    constant_bytes += module->BytesOf(BufferKind::kConstant);
  }
  const size_t named = std::min(kNamedShapes, retraced.shapes.size());
  const size_t further = retraced.shapes.size() - named;
  retraced.shapes.resize(named);
  RemedyCandidate candidate;
  candidate.remedy.set_kind("compile_once");
  candidate.remedy.set_title(
      absl::StrCat("Let `", function, "` see the same shapes in every call."));
  candidate.remedy.set_detail(absl::StrCat(
      "It was compiled ", FormatCount(retraced.modules.size()),
      " times, for arguments of different shapes (",
      absl::StrJoin(retraced.shapes, ", "),
      further == 0 ? "" : absl::StrCat(" and ", further, " more"),
      "). Each module keeps its own constants, ", FormatBytes(constant_bytes),
      " in all, and its first run waits for the compiler. Pad the inputs to a "
      "few sizes, or drop the last, smaller batch."));
  candidate.remedy.set_code("dataset.batch(batch_size, drop_remainder=True)");
  candidate.remedy.set_sufficiency(UNCERTAIN);
  candidate.remedy.set_proof(
      "Not tried: what the compiled modules keep outside of this allocator is "
      "not in the trace.");
  return candidate;
}

}  // namespace oom_forensics
