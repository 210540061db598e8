// Remedies that keep less in memory.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/remedies/pins.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

using RowSet = absl::flat_hash_set<Row>;

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
         !oom.held().IsVariable(row);
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

bool IsSameSite(const AllocationSite& a, const AllocationSite& b) {
  return a.op == b.op && a.shape == b.shape && a.dtype == b.dtype;
}

bool IsLeaking(const OomCase& oom, const AllocationSite& site) {
  for (const FoundLeak& leak : oom.leaks()) {
    if (IsSameSite(oom.replay().SiteOf(leak.rows.front()), site)) return true;
  }
  return false;
}

}  // namespace

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
  const AllocationSite& site = oom.host().sites.Get(LargestSite(oom, rows));
  if (IsLeaking(oom, site)) return std::nullopt;  // FindLeak names it.
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
                   " in the backward pass instead of keeping ",
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
