#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/compiled/module_plan.h"
#include "converter/counterfactual/counterfactual.h"
#include "converter/counterfactual/refused_step.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// What the step had asked for before the refused request, and still held.
std::vector<ForecastSite> HeldSince(const AllocatorReplay& replay,
                                    Position begin, Row failure,
                                    const ModulePlan& plan) {
  const AllocatorTrace& trace = replay.trace();
  std::vector<ForecastSite> sites;
  for (Row row = begin; row < failure; ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc ||
        !replay.IsLiveAt(row, failure)) {
      continue;
    }
    const AllocationSite& held = replay.SiteOf(row);
    ForecastSite& site = sites.emplace_back();
    site.op = held.op;
    site.shape = held.shape;
    site.dtype = held.dtype;
    site.requested_bytes = held.requested_bytes;
    std::vector<int64_t> dims;
    if (plan.batch().has_value() && held.compiled == 0 &&
        ParseShape(replay.host().ShapeOf(held), &dims) && !dims.empty() &&
        dims.front() == plan.batch()->size()) {
      site.per_example_bytes =
          held.requested_bytes / static_cast<uint64_t>(plan.batch()->size());
    }
  }
  return sites;
}

void Ask(const std::vector<ForecastSite>& sites, ForecastOrderTrace* order,
         ForecastTrace* forecast) {
  for (const ForecastSite& site : sites) {
    order->events.push_back(
        {false, static_cast<uint32_t>(forecast->sites.size())});
    forecast->sites.push_back(site);
  }
}

// Whether a run of that module came to its end before: its weights then lie
// where they may be written over.
bool RanBefore(const AllocatorReplay& replay, Row failure, Position begin,
               int32_t module) {
  const AllocatorTrace& trace = replay.trace();
  for (Row row = 0; row < std::min<Row>(begin, failure); ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const CompiledRequest* request =
        replay.host().CompiledOf(replay.SiteOf(row));
    if (request != nullptr && request->module == module) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const ForecastTrace> ForecastAsCompiled(
    const AllocatorReplay& replay, Row failure, const ForecastTrace& graph) {
  const HostTrace& host = replay.host();
  const CompiledRequest* refused = host.CompiledOf(replay.SiteOf(failure));
  if (refused == nullptr || host.AllocationOf(*refused) == nullptr) {
    // The host owns it.
    return {std::shared_ptr<const ForecastTrace>(), &graph};
  }
  auto forecast = std::make_shared<ForecastTrace>(graph);
  const std::string& function = host.strings.Get(refused->function);
  if (StartsWith(function, "cluster_")) {
    forecast->assumed.push_back(absl::StrCat(
        "XLA compiled parts of the graph (", function,
        " among them); the forecast is that of their ops, one by one."));
    return forecast;
  }
  // It calls the function as one of its ops, and has that in it.
  if (!graph.orders.empty() && !graph.planned) return forecast;
  forecast->sites.clear();
  forecast->orders.clear();
  forecast->unknown_ops.clear();
  forecast->unknown_count = 0;
  forecast->assumed.clear();
  forecast->reason.clear();
  const CompiledModule& module = *host.ModuleOf(*refused);
  const Position begin = BeginOfRun(replay, failure, graph.step_id);
  forecast->planned = true;
  forecast->op_count = module.program.size();
  const ModulePlan plan(module, graph.batch);
  const StringId op = replay.SiteOf(failure).op;
  ForecastOrderTrace planned{std::string(kPlannedOrder), {}};
  const std::vector<ForecastSite> held =
      HeldSince(replay, begin, failure, plan);
  Ask(held, &planned, forecast.get());
  if (refused->fresh_result >= 0) {
    Ask(plan.FreshResults(op, static_cast<size_t>(refused->fresh_result)),
        &planned, forecast.get());
  } else {
    Ask(plan.Planned(op, refused->allocation), &planned, forecast.get());
    const bool has_fresh = !module.fresh_results.empty() &&
                           !RanBefore(replay, failure, begin, refused->module);
    if (has_fresh) {
      ForecastOrderTrace fresh = planned;
      fresh.name = kFreshResultsOrder;
      Ask(plan.FreshResults(op), &fresh, forecast.get());
      forecast->orders.push_back(std::move(fresh));
    }
    if (plan.batch().has_value()) {
      ForecastOrderTrace sure{std::string(kSureOrder), {}};
      Ask(held, &sure, forecast.get());
      Ask(plan.Planned(op, refused->allocation, ModulePlan::Reading::kSure),
          &sure, forecast.get());
      if (has_fresh) Ask(plan.FreshResults(op), &sure, forecast.get());
      forecast->orders.push_back(std::move(sure));
    }
  }
  forecast->orders.push_back(std::move(planned));
  return forecast;
}

}  // namespace oom_forensics
