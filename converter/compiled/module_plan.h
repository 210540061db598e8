// What a run of a compiled module asks TensorFlow for: it is planned before it
// runs, so it is known of runs that never were.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_MODULE_PLAN_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_MODULE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "converter/compiled/block_batch.h"
#include "converter/hlo/compiled_module.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// The names of the two ways in which a run may go: new weights are written over
// the old ones, or beside them, as in a first run.
inline constexpr std::string_view kPlannedOrder = "planned by XLA";
inline constexpr std::string_view kFreshResultsOrder =
    "with all results beside the arguments";
// And a reading of the plan that matters for another batch only.
inline constexpr std::string_view kSureOrder =
    "planned by XLA, what may be a weight not scaled";

// Whether a run asks the allocator for it.
bool IsAskedFor(const CompiledAllocation& allocation);

class ModulePlan {
 public:
  // `batch`: the size of the step's batch; 0: not known. `module` must outlive
  // the plan.
  ModulePlan(const CompiledModule& module, int64_t batch);

  // What part of a block is taken to grow with the batch: all whose shape says
  // so, or what is sure to.
  enum class Reading { kByShape, kSure };

  // What the buffer assignment plans, in the order in which a run asks, from
  // the allocation of that index on; for all of it asks `op`.
  std::vector<ForecastSite> Planned(StringId op, int64_t from = 0,
                                    Reading reading = Reading::kByShape) const;
  // What it asks for after that where no result may be written over its
  // argument, from the result of that number on.
  std::vector<ForecastSite> FreshResults(StringId op, size_t from = 0) const;

  // Nothing where the shapes of the buffers do not show it: what another one
  // would take is not known then.
  const std::optional<BlockBatch>& batch() const { return batch_; }

 private:
  ForecastSite SiteOf(StringId op, const CompiledAllocation& allocation,
                      Reading reading) const;

  const CompiledModule& module_;
  std::optional<BlockBatch> batch_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_MODULE_PLAN_H_
