// What the forecast of the whole step tells of a remedy.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/op_purpose.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// What an optimizer has before it has applied anything: its learning rate, and
// the count of its steps.
constexpr uint64_t kNumberBytes = 8;

Sufficiency GradeOf(Fit fit) {
  switch (fit) {
    case Fit::kFits:
      return ENOUGH_ALONE;
    case Fit::kDoesNotFit:
      return NOT_ENOUGH;
    case Fit::kUncertain:
    case Fit::kUnknown:
      break;
  }
  return UNCERTAIN;
}

// What the step would have met, had some of what was live not been there.
PoolBeforeStep PoolWithout(const PoolBeforeStep& pool,
                           const std::function<bool(Row)>& is_left_out) {
  PoolBeforeStep without = pool;
  // The map has them still.
  without.layout.clear();
  without.live_bytes.clear();
  without.live_rows.clear();
  for (size_t i = 0; i < pool.live_rows.size(); ++i) {
    if (is_left_out(pool.live_rows[i])) continue;
    without.live_bytes.push_back(pool.live_bytes[i]);
    without.live_rows.push_back(pool.live_rows[i]);
  }
  return without;
}

// Whether the step computes gradients that it does not apply, and nothing has
// applied any yet: what the optimizer will keep is made by another function.
bool LeavesGradients(const OomCase& oom) {
  const ForecastTrace* const graph = ForecastOf(oom.replay(), oom.failure());
  if (graph == nullptr || oom.forecast()->is_planned()) return false;
  bool computes_gradients = false;
  for (const ForecastSite& site : graph->sites) {
    const std::string& op = oom.host().strings.Get(site.op);
    const OpPurpose purpose = PurposeOf(op, {});
    if (purpose == OpPurpose::kOptimizerSlot ||
        purpose == OpPurpose::kOptimizerUpdate ||
        purpose == OpPurpose::kVariableUpdate) {
      return false;
    }
    computes_gradients |= IsGradientName(op);
  }
  return computes_gradients &&
         std::none_of(oom.live().begin(), oom.live().end(), [&oom](Row row) {
           return oom.roles().RoleOf(row) == ROLE_OPTIMIZER &&
                  oom.replay().SiteOf(row).requested_bytes > kNumberBytes;
         });
}

}  // namespace

bool GradeByForecast(const OomCase& oom, RemedyCandidate* candidate) {
  const StepForecastModel* forecast = oom.forecast();
  if (forecast == nullptr || forecast->IsTooLow()) return false;
  Remedy* const remedy = &candidate->remedy;
  const Scenario& scenario = *candidate->scenario;
  int64_t batch = forecast->batch();
  uint64_t limit_bytes = oom.limit_bytes();
  std::optional<StepForecastModel> without;
  if (remedy->kind() == kSmallerBatch && forecast->scales()) {
    batch = remedy->values().batch_size();
  } else if (remedy->kind() == kLargerLimit) {
    limit_bytes = remedy->values().limit_bytes();
  } else if (scenario.is_left_out && !candidate->is_estimate &&
             !forecast->IsCorrected()) {
    // A pool in pieces would not be, without these: the replay tells.
    without.emplace(
        forecast->With(PoolWithout(forecast->pool(), scenario.is_left_out)));
    forecast = &*without;
  } else {
    return false;
  }
  const Need need = forecast->NeedOf(batch);
  remedy->set_sufficiency(GradeOf(forecast->FitOf(batch, limit_bytes)));
  remedy->set_needs_low_bytes(need.low_bytes);
  remedy->set_needs_high_bytes(need.high_bytes);
  remedy->set_has_bytes(limit_bytes);
  if (forecast->is_planned()) {
    remedy->set_proof(absl::StrCat(
        "XLA plans all memory of a step that it compiles before it runs; with "
        "what was live, and placed by a model of TensorFlow's allocator, that "
        "is ",
        FormatBytes(need.low_bytes), " to ", FormatBytes(need.high_bytes),
        " of ", FormatBytes(limit_bytes),
        batch == forecast->batch()
            ? "."
            : "; buffers of another batch are taken to scale with it, at "
              "worst without those that have the shape of a weight."));
    return true;
  }
  remedy->set_proof(absl::StrCat(
      "The graph of the step was run without data to its end, in several "
      "orders of its ops, and what it asked for placed by a model of "
      "TensorFlow's allocator: it needs ",
      FormatBytes(need.low_bytes), " to ", FormatBytes(need.high_bytes), " of ",
      FormatBytes(limit_bytes), ".",
      forecast->IsCorrected()
          ? " That is raised to what the refusal shows: the simulation alone "
            "would have fitted."
          : ""));
  if (remedy->sufficiency() == ENOUGH_ALONE && LeavesGradients(oom)) {
    remedy->set_sufficiency(UNCERTAIN);
    remedy->set_proof(absl::StrCat(
        remedy->proof(),
        " But it applies none of its gradients: what the optimizer will keep, "
        "once another function does, is not in it."));
  }
  return true;
}

}  // namespace oom_forensics
