#include "converter/forensics/causes/remedy_candidate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/forensics/oom_case/incidents.h"
#include "converter/forensics/op_purpose.h"
#include "converter/forensics/source_frames.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

// What the backward pass holds at once besides the activations: an estimate.
// For each of the two largest activations the gradient that comes in, and the
// one that is computed from it.
constexpr size_t kLargestActivations = 2;
constexpr int kGradientsOfEach = 2;

}  // namespace

bool ComputesGradients(const OomCase& oom) {
  const SiteTable& sites = oom.host().sites;
  for (SiteId id = 0; id < sites.size(); ++id) {
    if (IsGradientName(oom.host().OpOf(sites.Get(id)))) return true;
  }
  return false;
}

bool IsInference(const OomCase& oom) {
  const ForecastTrace* const graph = ForecastOf(oom.replay(), oom.failure());
  // What XLA compiled asks for blocks, whose parts no forecast names.
  return graph != nullptr && !graph->orders.empty() &&
         oom.host().block_parts.empty() &&
         std::none_of(graph->sites.begin(), graph->sites.end(),
                      [&oom](const ForecastSite& site) {
                        return IsGradientName(oom.host().strings.Get(site.op));
                      });
}

Scenario WithRestOfStep(const OomCase& oom, Scenario scenario) {
  if (oom.step() != nullptr && oom.step()->is_recorded()) return scenario;
  for (const Row row : RefusedTogether(oom.replay(), oom.failure())) {
    scenario.then_like.push_back(row);
  }
  // A block of XLA's holds the gradients of its activations, too.
  if (oom.site().compiled != 0) return scenario;
  // In the backward pass of an eager loop most gradients are there, or have
  // come and gone: what is left of them is less than they all.
  if (oom.site().mode == SiteMode::kEager &&
      IsEagerGradientOp(OpTypeOf(oom.host().OpOf(oom.site())))) {
    return scenario;
  }
  std::vector<Row> activations = oom.held().OnTape();
  const SiteId failed = oom.replay().trace().site[oom.failure()];
  if (activations.empty() &&
      (oom.roles().RoleOfFailed(failed) != ROLE_ACTIVATION ||
       !ComputesGradients(oom))) {
    return scenario;
  }
  activations.push_back(oom.failure());
  for (const Row row : oom.live()) {
    if (oom.IsOfThisStep(row) && oom.roles().RoleOf(row) == ROLE_ACTIVATION) {
      activations.push_back(row);
    }
  }
  std::sort(activations.begin(), activations.end());
  activations.erase(std::unique(activations.begin(), activations.end()),
                    activations.end());
  const AllocatorReplay& replay = oom.replay();
  std::stable_sort(activations.begin(), activations.end(),
                   [&replay](Row a, Row b) {
                     return replay.SiteOf(a).requested_bytes >
                            replay.SiteOf(b).requested_bytes;
                   });
  if (activations.size() > kLargestActivations) {
    activations.resize(kLargestActivations);
  }
  for (int i = 0; i < kGradientsOfEach; ++i) {
    scenario.then_like.insert(scenario.then_like.end(), activations.begin(),
                              activations.end());
  }
  return scenario;
}

Scenario WithRoomForStep(const OomCase& oom, Scenario scenario) {
  scenario = WithRestOfStep(oom, std::move(scenario));
  if (oom.step() != nullptr && !oom.step()->IsContradicted()) return scenario;
  const bool tells_steps = oom.IsOfThisStep(oom.failure());
  std::vector<Row> again = {oom.failure()};
  for (const Row row : oom.live()) {
    const Role role = oom.roles().RoleOf(row);
    if (role == ROLE_VARIABLE || role == ROLE_OPTIMIZER) continue;
    if (!tells_steps || oom.IsOfThisStep(row)) again.push_back(row);
  }
  if (again.size() > scenario.then_like.size()) scenario.then_like = again;
  return scenario;
}

Scenario WithoutRows(const OomCase& oom, absl::flat_hash_set<Row> rows) {
  Scenario scenario;
  scenario.is_left_out =
      [left_out = std::make_shared<const absl::flat_hash_set<Row>>(
           std::move(rows))](Row row) { return left_out->contains(row); };
  return WithRestOfStep(oom, std::move(scenario));
}

uint64_t FreedBytes(const OomCase& oom, const Scenario& scenario) {
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    const uint64_t held = oom.replay().BytesOf(row);
    if (scenario.is_left_out && scenario.is_left_out(row)) {
      bytes += held;
    } else if (scenario.resized) {
      const uint64_t before = oom.replay().SiteOf(row).requested_bytes;
      const uint64_t after = scenario.resized(row, before);
      if (after < before) bytes += held - std::min(held, RoundedBytes(after));
    }
  }
  return bytes;
}

LineId DominantLine(const AllocatorReplay& replay,
                    const std::vector<Row>& rows) {
  std::map<LineId, uint64_t> bytes;
  for (const Row row : rows) {
    const LineId line = SourceOf(replay.host(), replay.SiteOf(row)).line;
    if (line != kNoLine) bytes[line] += replay.BytesOf(row);
  }
  const auto largest = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == bytes.end() ? kNoLine : largest->first;
}

void PointToSource(const OomCase& oom, const std::vector<Row>& rows,
                   Remedy* remedy) {
  const LineId line = DominantLine(oom.replay(), rows);
  if (line != kNoLine) {
    *remedy->mutable_line() = MakeSourceFrame(oom.host(), line);
  }
  const std::vector<FoundKeeper> keepers = oom.held().KeepersOf(rows);
  if (keepers.empty()) return;
  for (const std::string& link : keepers.front().recorded->chain) {
    remedy->add_keeper(link);
  }
}

std::string DescribeSite(const HostTrace& host, const AllocationSite& site) {
  const std::string& op = host.OpOf(site);
  const std::string& shape = host.ShapeOf(site);
  return absl::StrCat(op.empty() ? "(no op recorded)" : op,
                      shape.empty() ? "" : " ", shape,
                      site.dtype == 0 ? "" : " ", DtypeName(site.dtype));
}

bool IsWorthIt(const OomCase& oom, uint64_t bytes) {
  return static_cast<double>(bytes) >=
         kMinRemedyShare * static_cast<double>(oom.usage().in_use_bytes);
}

}  // namespace oom_forensics
