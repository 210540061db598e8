// What the whole step tells of a remedy, in the pool that it would have met.
#include <algorithm>
#include <string>
#include <utility>

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

// Whether the step computes gradients that it does not apply, and nothing has
// applied any yet: what the optimizer will keep is made by another function.
bool LeavesGradients(const OomCase& oom) {
  const ForecastTrace* const graph = ForecastOf(oom.replay(), oom.failure());
  if (graph == nullptr || oom.step()->is_planned()) return false;
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

bool GradeByStep(const OomCase& oom, RemedyCandidate* candidate) {
  if (oom.step() == nullptr) return false;
  Remedy* const remedy = &candidate->remedy;
  Scenario change = *candidate->scenario;
  int64_t batch = oom.step()->batch();
  const uint64_t limit_bytes = change.limit_bytes.value_or(oom.limit_bytes());
  if (remedy->kind() == kSmallerBatch && oom.step()->scales()) {
    batch = remedy->values().batch_size() / oom.replica_count();
    change = {};
  }
  const bool is_known = oom.step()->is_recorded() || !candidate->is_estimate;
  if (!is_known || !oom.step()->AppliesTo(change)) return false;
  const Counterfactual step = oom.step()->Under(std::move(change));
  const Need need = step.NeedOf(batch);
  remedy->set_sufficiency(GradeOf(step.FitOf(batch, limit_bytes)));
  if (candidate->is_estimate && remedy->sufficiency() == ENOUGH_ALONE) {
    remedy->set_sufficiency(UNCERTAIN);
  }
  remedy->set_needs_low_bytes(need.low_bytes);
  remedy->set_needs_high_bytes(need.high_bytes);
  remedy->set_has_bytes(limit_bytes);
  const std::string needs = absl::StrCat(FormatBytes(need.low_bytes), " to ",
                                         FormatBytes(need.high_bytes), " of ",
                                         FormatBytes(limit_bytes));
  if (step.is_recorded()) {
    remedy->set_proof(absl::StrCat(
        "An earlier step like this one finished. After what was "
        "recorded before the refusal, and placed by a model of TensorFlow's "
        "allocator with this change, all its requests need ",
        needs, "."));
    return true;
  }
  if (step.is_planned()) {
    remedy->set_proof(absl::StrCat(
        "XLA plans all memory of a compiled step before the step runs. Placed "
        "by a model of TensorFlow's allocator, after what was recorded before "
        "it, the plan needs ",
        needs,
        batch == step.batch()
            ? "."
            : "; buffers of another batch are taken to scale with it, at "
              "worst without those that have the shape of a weight."));
    return true;
  }
  remedy->set_proof(absl::StrCat(
      "The graph of the step was run to its end without data, in several "
      "orders of its ops. Placed by a model of TensorFlow's allocator, after "
      "all that was recorded before it, the step needs ",
      needs, ".",
      step.IsContradicted() ? " But in this model it would not have been "
                              "refused, or would have held fewer tensors of an "
                              "op by then, so some of its memory is not known."
                            : ""));
  if (remedy->sufficiency() == ENOUGH_ALONE && LeavesGradients(oom)) {
    remedy->set_sufficiency(UNCERTAIN);
    remedy->set_proof(absl::StrCat(
        remedy->proof(),
        " But it applies none of its gradients, so this leaves out what the "
        "optimizer will keep once another function applies them."));
  }
  return true;
}

}  // namespace oom_forensics
