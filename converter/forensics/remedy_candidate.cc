#include "converter/forensics/remedy_candidate.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Gradients that the backward pass holds at once, besides the activations.
constexpr size_t kGradientsAtOnce = 2;

bool ComputesGradients(const OomCase& oom) {
  const SiteTable& sites = oom.host().sites;
  for (SiteId id = 0; id < sites.size(); ++id) {
    if (IsGradientName(oom.host().OpOf(sites.Get(id)))) return true;
  }
  return false;
}

}  // namespace

Scenario WithRestOfStep(const OomCase& oom, Scenario scenario) {
  const SiteId failed = oom.replay().trace().site[oom.failure()];
  if (oom.roles().RoleOfFailed(failed) != ROLE_ACTIVATION ||
      !ComputesGradients(oom)) {
    return scenario;
  }
  std::vector<Row> activations = {oom.failure()};
  for (const Row row : oom.live()) {
    if (oom.IsOfThisStep(row) && oom.roles().RoleOf(row) == ROLE_ACTIVATION) {
      activations.push_back(row);
    }
  }
  const AllocatorReplay& replay = oom.replay();
  std::stable_sort(activations.begin(), activations.end(),
                   [&replay](Row a, Row b) {
                     return replay.SiteOf(a).requested_bytes >
                            replay.SiteOf(b).requested_bytes;
                   });
  if (activations.size() > kGradientsAtOnce) {
    activations.resize(kGradientsAtOnce);
  }
  scenario.then_like.insert(scenario.then_like.end(), activations.begin(),
                            activations.end());
  return scenario;
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

std::string DescribeSite(const HostTrace& host, const AllocationSite& site) {
  const std::string& op = host.OpOf(site);
  return absl::StrCat(op.empty() ? "(no op recorded)" : op, " ",
                      host.ShapeOf(site), site.dtype == 0 ? "" : " ",
                      DtypeName(site.dtype));
}

bool IsWorthIt(const OomCase& oom, uint64_t bytes) {
  return static_cast<double>(bytes) >=
         kMinRemedyShare * static_cast<double>(oom.usage().in_use_bytes);
}

}  // namespace oom_forensics
