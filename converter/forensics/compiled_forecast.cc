#include "converter/forensics/compiled_forecast.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/forensics/block_batch.h"
#include "converter/forensics/step_forecast.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

constexpr char kPlanned[] = "planned by XLA";
constexpr char kPlannedAndFresh[] = "with all results beside the arguments";

// What a run asks for from the refused request on, and what it had by then.
class PlanReader {
 public:
  PlanReader(const AllocatorReplay& replay, Row failure,
             const CompiledRequest& refused, const CompiledModule& module,
             int64_t batch)
      : replay_(replay), failure_(failure), refused_(refused), module_(module) {
    if (batch <= 0) return;
    const CompiledAllocation& block = *replay.host().AllocationOf(refused);
    BlockBatch known(module, batch);
    // Its shapes do not show the batch: that of another is not known.
    if (known.ShareOf(block).bytes * 2 < block.size_bytes) return;
    batch_.emplace(std::move(known));
  }

  void AddHeldSince(Position begin, ForecastTrace* forecast) {
    const AllocatorTrace& trace = replay_.trace();
    for (Row row = begin; row < failure_; ++row) {
      if (trace.kind_of[row] != RowKind::kAlloc ||
          !replay_.IsLiveAt(row, failure_)) {
        continue;
      }
      const AllocationSite& held = replay_.SiteOf(row);
      ForecastSite site;
      site.op = held.op;
      site.shape = held.shape;
      site.dtype = held.dtype;
      site.requested_bytes = held.requested_bytes;
      std::vector<int64_t> dims;
      if (batch_.has_value() && held.compiled == 0 &&
          ParseShape(replay_.host().ShapeOf(held), &dims) && !dims.empty() &&
          dims.front() == batch_->size()) {
        site.per_example_bytes =
            held.requested_bytes / static_cast<uint64_t>(batch_->size());
      }
      Ask(site, forecast);
    }
  }

  void AddPlan(ForecastTrace* forecast) {
    if (refused_.fresh_result >= 0) return;
    for (const CompiledAllocation& allocation : module_.allocations) {
      // They are asked for in the order of their numbers.
      if (allocation.index >= refused_.allocation &&
          (allocation.kind == BufferKind::kTemp ||
           allocation.kind == BufferKind::kOutput) &&
          allocation.size_bytes > 0) {
        Ask(SiteOf(allocation), forecast);
      }
    }
  }

  void AddFreshResults(ForecastTrace* forecast) {
    const auto begin =
        static_cast<size_t>(std::max<int32_t>(0, refused_.fresh_result));
    for (size_t i = begin; i < module_.fresh_results.size(); ++i) {
      Ask(SiteOf(module_.fresh_results[i]), forecast);
    }
  }

 private:
  static void Ask(const ForecastSite& site, ForecastTrace* forecast) {
    const auto index = static_cast<uint32_t>(forecast->sites.size());
    forecast->sites.push_back(site);
    forecast->orders.front().events.push_back({false, index});
  }

  ForecastSite SiteOf(const CompiledAllocation& allocation) const {
    ForecastSite site;
    // All of it is the function's.
    site.op = replay_.SiteOf(failure_).op;
    site.requested_bytes = allocation.size_bytes;
    if (batch_.has_value()) {
      site.per_example_bytes = batch_->ShareOf(allocation).bytes /
                               static_cast<uint64_t>(batch_->size());
    }
    return site;
  }

  const AllocatorReplay& replay_;
  const Row failure_;
  const CompiledRequest& refused_;
  const CompiledModule& module_;
  std::optional<BlockBatch> batch_;
};

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
  forecast->orders.push_back({kPlanned, {}});
  PlanReader plan(replay, failure, *refused, module, graph.batch);
  plan.AddHeldSince(begin, forecast.get());
  plan.AddPlan(forecast.get());
  if (refused->fresh_result >= 0) {
    plan.AddFreshResults(forecast.get());
  } else if (!RanBefore(replay, failure, begin, refused->module)) {
    ForecastOrderTrace planned = forecast->orders.front();
    plan.AddFreshResults(forecast.get());
    forecast->orders.front().name = kPlannedAndFresh;
    forecast->orders.push_back(std::move(planned));
  }
  return forecast;
}

}  // namespace oom_forensics
