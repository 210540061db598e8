#include "converter/compiled/planned_forecasts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/compiled/module_plan.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// Requests of one forecast, beyond which a file is damaged.
constexpr size_t kMaxRequests = size_t{1} << 22;
// What is less than this part of what a module asks for does not count.
constexpr uint64_t kNextToNothing = 64;

// Null where the trace does not have it.
const CompiledModule* ModuleOf(const HostTrace& trace, const ModuleRun& run) {
  const auto found =
      std::find_if(trace.modules.begin(), trace.modules.end(),
                   [&](const CompiledModule& module) {
                     return module.program_id == run.program_id &&
                            module.name == run.module_name;
                   });
  return found == trace.modules.end() ? nullptr : &*found;
}

// A forecast whose runs of modules are being replaced.
class Planner {
 public:
  Planner(HostTrace* trace, ForecastTrace* forecast)
      : trace_(*trace), forecast_(*forecast) {}

  void Plan(const std::vector<ModuleRun>& runs) {
    modules_.resize(forecast_.sites.size());
    for (const ModuleRun& run : runs) {
      modules_[run.site] = ModuleOf(trace_, run);
      if (modules_[run.site] == nullptr) {
        Refuse("the run does not have the module that XLA compiled for it.");
        return;
      }
    }
    const std::vector<ForecastSite> sites = std::move(forecast_.sites);
    const std::vector<ForecastOrderTrace> orders = std::move(forecast_.orders);
    forecast_.sites.clear();
    forecast_.orders.clear();
    for (size_t i = 0; i < sites.size(); ++i) AddSite(sites[i], modules_[i]);
    const CompiledModule* const whole = WholeStep(sites, orders);
    bool fits = true;
    if (whole != nullptr) {
      forecast_.planned = true;
      forecast_.op_count = whole->program.size();
      // One is as good as another.
      const ForecastOrderTrace& order = orders.front();
      const bool has_fresh = !whole->fresh_results.empty();
      if (has_fresh) {
        fits = AddOrder(order, std::string(kFreshResultsOrder),
                        &Requests::planned, true);
      }
      fits = fits && AddOrder(order, std::string(kPlannedOrder),
                              &Requests::planned, false);
      if (ModulePlan(*whole, forecast_.batch).batch().has_value()) {
        fits = fits && AddOrder(order, std::string(kSureOrder),
                                &Requests::surely_planned, has_fresh);
      }
    } else {
      for (const ForecastOrderTrace& order : orders) {
        fits = fits && AddOrder(order, order.name, &Requests::planned, true);
      }
    }
    if (!fits) Refuse("it has more requests than a step can have.");
  }

 private:
  // What stands in the place of a site, by index into ForecastTrace::sites.
  struct Requests {
    std::vector<uint32_t> planned;
    // The same requests, as they surely grow with the batch.
    std::vector<uint32_t> surely_planned;
    std::vector<uint32_t> fresh;
  };

  // `module`: of which the site is a run; null: it is an op.
  void AddSite(const ForecastSite& site, const CompiledModule* module) {
    Requests& requests = requests_.emplace_back();
    if (module == nullptr) {
      Append({site}, &requests.planned);
      requests.surely_planned = requests.planned;
      return;
    }
    const ModulePlan plan(*module, forecast_.batch);
    const StringId op = trace_.strings.Intern(absl::StrCat(
        module->function, "/xla_", Absl(BufferKindName(BufferKind::kTemp))));
    Append(plan.Planned(op), &requests.planned);
    Append(plan.Planned(op, 0, ModulePlan::Reading::kSure),
           &requests.surely_planned);
    Append(plan.FreshResults(op), &requests.fresh);
  }

  void Append(const std::vector<ForecastSite>& sites,
              std::vector<uint32_t>* indices) {
    for (const ForecastSite& site : sites) {
      indices->push_back(static_cast<uint32_t>(forecast_.sites.size()));
      forecast_.sites.push_back(site);
    }
  }

  // The module of which one run is the step: what else asks is next to
  // nothing. Null: there is more to the step.
  const CompiledModule* WholeStep(
      const std::vector<ForecastSite>& sites,
      const std::vector<ForecastOrderTrace>& orders) const {
    if (orders.empty()) return nullptr;
    const CompiledModule* whole = nullptr;
    uint64_t of_module = 0;
    uint64_t of_others = 0;
    for (const ForecastEvent& event : orders.front().events) {
      if (event.is_free) continue;
      const ForecastSite& site = sites[event.index];
      if (modules_[event.index] == nullptr) {
        of_others += site.requested_bytes;
        continue;
      }
      if (whole != nullptr) return nullptr;
      whole = modules_[event.index];
      for (const uint32_t planned : requests_[event.index].planned) {
        of_module += forecast_.sites[planned].requested_bytes;
      }
    }
    return of_others <= of_module / kNextToNothing ? whole : nullptr;
  }

  // False where there would be too many.
  bool AddOrder(const ForecastOrderTrace& order, std::string name,
                std::vector<uint32_t> Requests::*plan,
                bool with_fresh_results) {
    ForecastOrderTrace planned;
    planned.name = std::move(name);
    // By the number of a request in `order`: the numbers of those in its place.
    std::vector<std::pair<uint32_t, uint32_t>> places;
    uint32_t count = 0;
    for (const ForecastEvent& event : order.events) {
      if (event.is_free) {
        const auto [first, end] = places[event.index];
        for (uint32_t i = first; i < end; ++i) {
          planned.events.push_back({true, i});
        }
        continue;
      }
      const Requests& requests = requests_[event.index];
      const uint32_t first = count;
      for (const auto* each : {&(requests.*plan), &requests.fresh}) {
        if (each == &requests.fresh && !with_fresh_results) break;
        for (const uint32_t site : *each) {
          planned.events.push_back({false, site});
          ++count;
        }
      }
      places.emplace_back(first, count);
      if (planned.events.size() > kMaxRequests) return false;
    }
    forecast_.orders.push_back(std::move(planned));
    return true;
  }

  void Refuse(std::string reason) {
    forecast_.sites.clear();
    forecast_.orders.clear();
    forecast_.planned = false;
    forecast_.reason = std::move(reason);
  }

  HostTrace& trace_;
  ForecastTrace& forecast_;
  // By index of the recorded site: of which module it is a run (null: of none),
  // and what stands in its place.
  std::vector<const CompiledModule*> modules_;
  std::vector<Requests> requests_;
};

}  // namespace

void PlanRuns(const std::vector<ModuleRun>& runs, HostTrace* trace,
              ForecastTrace* forecast) {
  if (!runs.empty()) Planner(trace, forecast).Plan(runs);
}

}  // namespace oom_forensics
