// Remedies that keep less in memory.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/causes/remedy_source.h"
#include "converter/forensics/keepers.h"
#include "converter/forensics/remedies/pins.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

using RowSet = absl::flat_hash_set<Row>;

uint64_t BytesOf(const OomCase& oom, const std::vector<Row>& rows) {
  uint64_t bytes = 0;
  for (const Row row : rows) bytes += oom.replay().BytesOf(row);
  return bytes;
}

// Before a step has ended nothing shows that a tensor of zeros is an
// optimizer's slot, but that another op made one of the same shape: the
// variable.
bool MayBeSlot(const OomCase& oom, Row row) {
  const AllocationSite& site = oom.replay().SiteOf(row);
  if (!oom.steps().spans().empty() || site.shape == kEmptyString) return false;
  return std::any_of(oom.live().begin(), oom.live().end(),
                     [&oom, &site](Row other) {
                       const AllocationSite& twin = oom.replay().SiteOf(other);
                       return twin.shape == site.shape && twin.op != site.op &&
                              !oom.IsOfThisStep(other);
                     });
}

// A program can only let go of what it holds itself: not of variables, nor of
// what the step that failed is working on.
bool CanBeReleased(const OomCase& oom, Row row) {
  const Role role = oom.roles().RoleOf(row);
  return role != ROLE_VARIABLE && role != ROLE_OPTIMIZER &&
         !oom.IsOfThisStep(row) && !MayBeSlot(oom, row) &&
         !IsValueOfVariable(oom.replay(), row);
}

// The layout cut at what cannot be released, so that no window spans it.
Layout ReleasableStretches(const OomCase& oom) {
  Layout stretches;
  for (const RegionLayout& region : oom.layout()) {
    bool open = false;
    for (const Block& block : region.blocks) {
      if (!block.free() &&
          !CanBeReleased(oom, static_cast<Row>(block.holder))) {
        open = false;
        continue;
      }
      if (!open) stretches.push_back({block.address, 0, {}});
      open = true;
      stretches.back().blocks.push_back(block);
      stretches.back().size_bytes += block.size_bytes;
    }
  }
  return stretches;
}

// The site (op, shape and dtype) that holds most of the rows' bytes.
const AllocationSite& DominantSite(const OomCase& oom,
                                   const std::vector<Row>& rows) {
  std::map<SiteId, uint64_t> bytes;
  for (const Row row : rows) {
    bytes[oom.replay().trace().site[row]] += oom.replay().BytesOf(row);
  }
  const auto largest = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return oom.host().sites.Get(largest->first);
}

bool IsSameSite(const AllocationSite& a, const AllocationSite& b) {
  return a.op == b.op && a.shape == b.shape && a.dtype == b.dtype;
}

bool IsLeaking(const OomCase& oom, const AllocationSite& site) {
  for (const FoundLeak& leak : oom.leaks()) {
    if (IsSameSite(oom.replay().SiteOf(leak.rows.front()), site)) return true;
  }
  return false;
}

// Keras' predict() keeps the outputs of all batches where they were computed,
// until it joins them. No program can make it let go of them sooner.
bool IsKeptByPredict(const Remedy& remedy) {
  return remedy.keeper_size() > 0 &&
         StartsWith(remedy.keeper(0), "list 'outputs' in predict (trainer.py:");
}

void PredictInParts(Remedy* remedy) {
  remedy->set_title("Predict fewer examples in one call.");
  remedy->set_detail(
      "predict() of Keras keeps the outputs of all batches on the device until "
      "it joins them at the end, and then gives them out as NumPy arrays: "
      "after "
      "each of several calls they are gone from the device.");
  remedy->set_code(
      "np.concatenate([model.predict(part) for part in np.array_split(x, 8)])");
}

}  // namespace

std::optional<RemedyCandidate> ReleaseLeak(const OomCase& oom) {
  // What the graphs of a function keep, or a pipeline's cache, no program can
  // let go of.
  if (oom.leaks().empty() || FindRetracing(oom).has_value() ||
      FindPipelineBuffer(oom).has_value()) {
    return std::nullopt;
  }
  RowSet left_out;
  std::vector<Row> kept;
  uint64_t bytes = 0;
  for (const FoundLeak& leak : oom.leaks()) {
    // The newest is what the step works on.
    const size_t keep = leak.kind == FoundLeak::Kind::kGrowth ? 1 : 0;
    for (size_t i = 0; i + keep < leak.rows.size(); ++i) {
      left_out.insert(leak.rows[i]);
      kept.push_back(leak.rows[i]);
      bytes += oom.replay().BytesOf(leak.rows[i]);
    }
  }
  if (!IsWorthIt(oom, bytes) && bytes < oom.short_by_bytes()) {
    return std::nullopt;
  }
  const FoundLeak& largest = oom.leaks().front();
  const std::string site =
      DescribeSite(oom.host(), oom.replay().SiteOf(largest.rows.front()));
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kReleaseLeak);
  candidate.remedy.set_title(
      absl::StrCat("Stop keeping ", CountOf(left_out.size(), "old tensor"),
                   ", most of them ", site, "."));
  candidate.remedy.set_detail(
      "Something in the program still refers to them: a list, a closure, a "
      "callback's logs. Keep plain numbers there, or copies on the host "
      "(tensor.numpy()), and let the tensors go at the end of each step.");
  candidate.remedy.set_code(
      "history.append(float(loss))  # not the tensor; or tensor.numpy()");
  PointToSource(oom, kept, &candidate.remedy);
  if (IsKeptByPredict(candidate.remedy)) PredictInParts(&candidate.remedy);
  candidate.scenario = WithoutRows(oom, std::move(left_out));
  return candidate;
}

std::optional<RemedyCandidate> ReleasePins(const OomCase& oom) {
  if (oom.available_bytes() < oom.rounded_bytes() || oom.IsFull()) {
    return std::nullopt;
  }
  std::optional<ReleaseSet> pins = CheapestRelease(
      ReleasableStretches(oom), oom.rounded_bytes(), ReleaseCost::kBytes);
  const bool opens_gap = pins.has_value() && !pins->holders.empty();
  // Between the pins may lie what the step itself made; without the pins it
  // would lie elsewhere, so the replay tells whether they are enough.
  if (!opens_gap) {
    pins =
        CheapestRelease(oom.layout(), oom.rounded_bytes(), ReleaseCost::kBytes);
  }
  if (!pins.has_value()) return std::nullopt;
  std::vector<Row> rows;
  for (const int64_t holder : pins->holders) {
    const Row row = static_cast<Row>(holder);
    if (CanBeReleased(oom, row)) rows.push_back(row);
  }
  if (rows.empty()) return std::nullopt;
  // Whoever lets go of these lets go of all that are like them.
  const AllocationSite& site = DominantSite(oom, rows);
  if (IsLeaking(oom, site)) return std::nullopt;  // ReleaseLeak names it.
  RowSet left_out(rows.begin(), rows.end());
  std::vector<Row> alike;
  for (const Row row : oom.live()) {
    if (IsSameSite(oom.replay().SiteOf(row), site) && CanBeReleased(oom, row)) {
      alike.push_back(row);
      left_out.insert(row);
    }
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("release_pins");
  candidate.remedy.set_title(
      absl::StrCat("Keep the ", CountOf(alike.size(), "tensor"), " of ",
                   DescribeSite(oom.host(), site), " (",
                   FormatBytes(BytesOf(oom, alike)), ") outside this memory."));
  candidate.remedy.set_detail(absl::StrCat(
      "They outlive their step and lie between the gaps",
      opens_gap ? absl::StrCat(
                      ": letting go of ", CountOf(rows.size(), "tensor"),
                      " of ", FormatBytes(BytesOf(oom, rows)),
                      " alone opens one gap of ", FormatBytes(pins->hole_bytes))
                : std::string(),
      ". Hold them as NumPy arrays on the host, or make them before everything "
      "else, so that they lie together."));
  candidate.remedy.set_code("kept.append(tensor.numpy())");
  PointToSource(oom, alike, &candidate.remedy);
  candidate.scenario = WithoutRows(oom, std::move(left_out));
  return candidate;
}

std::optional<RemedyCandidate> CheckpointGradients(const OomCase& oom) {
  if (IsInference(oom)) return std::nullopt;
  std::vector<Row> activations;
  for (const Row row : oom.live()) {
    if (oom.roles().RoleOf(row) == ROLE_ACTIVATION && oom.IsOfThisStep(row)) {
      activations.push_back(row);
    }
  }
  // The newest is the input of the op that failed.
  std::sort(activations.begin(), activations.end());
  if (!activations.empty()) activations.pop_back();
  if (!IsWorthIt(oom, BytesOf(oom, activations))) return std::nullopt;
  std::stable_sort(activations.begin(), activations.end(),
                   [&oom](Row a, Row b) {
                     return oom.replay().BytesOf(a) > oom.replay().BytesOf(b);
                   });
  // Recomputing needs room for the largest of them again.
  const auto dropping = [&](size_t count) {
    Scenario scenario = WithoutRows(
        oom, RowSet(activations.begin(),
                    activations.begin() + static_cast<std::ptrdiff_t>(count)));
    scenario.then_like.push_back(activations.front());
    return scenario;
  };
  size_t count = 1;
  while (count < activations.size() &&
         !oom.what_if().Try(dropping(count)).placed) {
    count = std::min(activations.size(), count * 2);
  }
  activations.resize(count);
  RemedyCandidate candidate;
  candidate.remedy.set_kind("gradient_checkpointing");
  candidate.remedy.set_title(
      absl::StrCat("Recompute ", FormatCount(count),
                   count == 1 ? " activation" : " activations",
                   " in the backward pass in place of keeping ",
                   count == 1 ? "it." : "them."));
  candidate.remedy.set_detail(absl::StrCat(
      "The largest outputs of layers are held until their gradients are "
      "computed, ",
      FormatBytes(BytesOf(oom, activations)), " in these; first ",
      DescribeSite(oom.host(), oom.replay().SiteOf(activations.front())),
      ". It costs a second forward pass through those layers."));
  candidate.remedy.set_code(
      "with keras.RematScope(mode=\"full\"):  # Keras 3.9 and newer; else "
      "tf.recompute_grad(f)\n    model = make_model()");
  // Which layers are recomputed together is not in the trace.
  candidate.is_estimate = true;
  PointToSource(oom, activations, &candidate.remedy);
  candidate.scenario = dropping(count);
  return candidate;
}

}  // namespace oom_forensics
