// Remedies for a block that XLA asked for: it needs in one piece what the step
// needs together.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/forensics/block_content.h"
#include "converter/forensics/remedy_candidate.h"
#include "converter/simulation/pool_settings.h"
#include "core/bfc_model.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Part of a block that must be held for the backward pass before recomputing it
// is worth its time.
constexpr double kMinHeldShare = 0.2;
// Recomputing keeps the inputs of what is recomputed, and one layer at a time:
// taken to give back half of what is held.
constexpr uint64_t kHeldDivisor = 2;
// Training and evaluating are two modules of one name.
constexpr size_t kManyModules = 3;

// The allocation that the request was for; null: XLA did not ask, or its module
// is not in the trace.
const CompiledAllocation* BlockOf(const OomCase& oom) {
  const HostTrace& host = oom.host();
  if (!host.block_parts.contains(oom.replay().trace().site[oom.failure()])) {
    return nullptr;
  }
  return host.AllocationOf(*host.CompiledOf(oom.site()));
}

}  // namespace

std::optional<RemedyCandidate> RecomputeInBlock(const OomCase& oom) {
  const CompiledAllocation* block = BlockOf(oom);
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
      "Recompute the layers' activations in the backward pass in place of "
      "keeping them.");
  candidate.remedy.set_detail(absl::StrCat(
      FormatBytes(held_bytes), " of the block of ",
      FormatBytes(block->size_bytes),
      " are made by the forward pass and kept until their gradients are "
      "computed; first those of ",
      content.by_scope().empty() ? "" : content.by_scope(0).key(),
      ". About half of it is given back, and it costs a second forward pass."));
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
  const CompiledAllocation* block = BlockOf(oom);
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
  candidate.remedy.set_detail(absl::StrCat(
      "XLA asks for the ", FormatCount(pieces.size()),
      " tensors that it needs together as one block of ",
      FormatBytes(block->size_bytes),
      "; TensorFlow without XLA asks for each by itself, and they may lie in "
      "different gaps."));
  candidate.remedy.set_code("model.compile(..., jit_compile=False)");
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
  size_t modules = 0;
  uint64_t constant_bytes = 0;
  for (const CompiledModule& module : oom.host().modules) {
    if (module.function != function) continue;
    ++modules;
    constant_bytes += module.BytesOf(BufferKind::kConstant);
  }
  if (modules < kManyModules) return std::nullopt;
  RemedyCandidate candidate;
  candidate.remedy.set_kind("compile_once");
  candidate.remedy.set_title(
      absl::StrCat("Let `", function, "` see the same shapes at each call."));
  candidate.remedy.set_detail(absl::StrCat(
      "It was compiled ", FormatCount(modules),
      " times, for different shapes of its arguments: each of these modules "
      "keeps its own constants (",
      FormatBytes(constant_bytes),
      " in all), and its first run waits for the compiler. Pad the inputs, or "
      "drop the last, smaller batch."));
  candidate.remedy.set_code("dataset.batch(batch_size, drop_remainder=True)");
  candidate.remedy.set_sufficiency(UNCERTAIN);
  candidate.remedy.set_proof(
      "Not tried: what the compiled modules keep outside of this allocator is "
      "not in the trace.");
  return candidate;
}

}  // namespace oom_forensics
