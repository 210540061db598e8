#include "converter/forensics/remedies/remedies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/trend.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

using Finder = std::optional<RemedyCandidate> (*)(const OomCase&);

// What costs the user least first.
constexpr Finder kFinders[] = {
    FreeDevice,       Float32,         ReleasePins,
    SmallerBatch,     MixedPrecision,  CheckpointGradients,
    MemoryGrowthOff,  CudaMallocAsync, LargerLimit,
    RecomputeInBlock, JitCompileOff,   CompileOnce,
};

std::string Proof(const OomCase& oom, const Scenario& scenario,
                  const Outcome& outcome) {
  std::string proof = absl::StrCat(
      "Replayed the last ", FormatCount(outcome.requests),
      oom.has_layout()
          ? " requests through a model of TensorFlow's allocator with this "
            "change: "
          : " requests against what the device has, as a pool without gaps: ");
  std::string rest;
  if (oom.has_layout() && !scenario.then_like.empty()) {
    rest = " and what the rest of the step is known to need at once";
  }
  if (outcome.placed) {
    absl::StrAppend(&proof, "the request", rest, " found a place; then ",
                    FormatBytes(outcome.largest_free_bytes),
                    " in one piece were still free.");
  } else if (outcome.failed_before) {
    absl::StrAppend(&proof, "an earlier request found no place.");
  } else {
    absl::StrAppend(&proof, "the request", rest,
                    " found no place; the largest gap was ",
                    FormatBytes(outcome.largest_free_bytes), " of ",
                    FormatBytes(outcome.free_bytes), " free.");
  }
  if (scenario.limit_bytes.has_value()) {
    absl::StrAppend(&proof, " Limit: ", FormatBytes(*scenario.limit_bytes),
                    ", before: ", FormatBytes(oom.limit_bytes()), ".");
  }
  return proof;
}

// That memory goes on growing, whatever else is changed. What has no end in
// sight says more than what may have one.
Growth GrowthOf(const std::vector<Cause>& causes) {
  Growth growth;
  for (const Cause& cause : causes) {
    if (cause.growth.sentence.empty() ||
        (!growth.sentence.empty() && cause.growth.may_end)) {
      continue;
    }
    if (growth.sentence.empty() || growth.may_end) growth = cause.growth;
  }
  return growth;
}

bool EndsGrowth(const Remedy& remedy) {
  constexpr absl::string_view kEnding[] = {
      kReleaseLeak,   kReleaseModels, kReleaseCollection,
      kStopRetracing, kPreallocate,   kSmallerPipelineBuffer};
  return std::find(std::begin(kEnding), std::end(kEnding), remedy.kind()) !=
         std::end(kEnding);
}

Sufficiency Grade(const RemedyCandidate& candidate, const Outcome& outcome) {
  if (!outcome.placed) return NOT_ENOUGH;
  return candidate.is_estimate ? UNCERTAIN : REQUEST_FITS;
}

// Bytes by which the memory in use grew from the end of one step to the next,
// whoever holds it, over the later half of the steps before the failure (the
// first ones also grow where nothing is kept: slots, a pipeline's buffers);
// 0: it did not for certain, or comes to nothing.
uint64_t UsageGrowthPerStep(const OomCase& oom) {
  const std::vector<StepSpan>& spans = oom.steps().spans();
  std::vector<double> step;
  std::vector<double> in_use;
  for (size_t i = spans.size() / 2; i < spans.size(); ++i) {
    step.push_back(static_cast<double>(i));
    in_use.push_back(static_cast<double>(
        oom.replay().usage().At(spans[i].end).in_use_bytes));
  }
  const std::optional<Trend> trend = FitTrend(step, in_use);
  if (!trend.has_value() || trend->slope_low <= 0) return 0;
  const auto grown_bytes =
      static_cast<uint64_t>(trend->slope * static_cast<double>(step.size()));
  return IsWorthIt(oom, grown_bytes) ? static_cast<uint64_t>(trend->slope) : 0;
}

// A step that fits once does not in the end where each leaves more behind.
void PromiseNoFurther(uint64_t growth_bytes, Remedy* remedy) {
  if (growth_bytes == 0 || remedy->sufficiency() != ENOUGH_ALONE) return;
  remedy->set_sufficiency(REQUEST_FITS);
  remedy->set_proof(absl::StrCat(
      remedy->proof(), " But from step to step ", FormatBytes(growth_bytes),
      " more were in use, so what later steps need is not known."));
}

// What earlier calls of the step's functions returned, and the program still
// holds: more is to come than a single call shows.
uint64_t OutlivingBytes(const OomCase& oom) {
  std::map<SiteId, std::vector<Row>> kept;
  for (const Row row : oom.live()) {
    if (ModeOf(oom.host(), oom.replay().SiteOf(row)) == GRAPH &&
        !oom.IsOfThisStep(row) && oom.held().IsKept(row) &&
        !oom.held().IsVariable(row) && !oom.held().IsOnTape(row)) {
      kept[oom.replay().trace().site[row]].push_back(row);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [site, rows] : kept) {
    if (rows.size() > 1) bytes += BytesOf(oom, rows);
  }
  return IsWorthIt(oom, bytes) ? bytes : 0;
}

// What a promise is made for, and what it is not.
void SayWhatIsCovered(const OomCase& oom, Remedy* remedy) {
  if (remedy->sufficiency() != ENOUGH_ALONE) return;
  const uint64_t outliving_bytes = OutlivingBytes(oom);
  if (outliving_bytes != 0 && !EndsGrowth(*remedy)) {
    remedy->set_sufficiency(REQUEST_FITS);
    remedy->set_proof(
        absl::StrCat(remedy->proof(), " But the program still holds ",
                     FormatBytes(outliving_bytes),
                     " of what earlier calls returned: this is enough for one "
                     "call, not for the results of all calls."));
    return;
  }
  remedy->set_proof(absl::StrCat(remedy->proof(),
                                 " This covers the step that failed and steps "
                                 "like it, not what else the program runs."));
}

void TryAlone(const OomCase& oom, const Growth& growth,
              RemedyCandidate& candidate) {
  Remedy& remedy = candidate.remedy;
  if (!candidate.scenario.has_value()) return;
  if (remedy.bytes() == 0) {
    remedy.set_bytes(FreedBytes(oom, *candidate.scenario));
  }
  const bool ends_growth = EndsGrowth(remedy);
  const bool is_put_off = !growth.sentence.empty() && !ends_growth;
  // What an earlier step did is known only as well as the model places it.
  const bool is_recorded = oom.step() != nullptr && oom.step()->is_recorded();
  if (!is_put_off && !is_recorded && GradeByStep(oom, &candidate)) return;
  if (!oom.what_if().IsFaithful()) {
    remedy.set_sufficiency(UNCERTAIN);
    remedy.set_proof(
        oom.has_layout()
            ? "Not tried: the model of TensorFlow's allocator does not "
              "reproduce this failure from the trace."
            : "Not tried: the device's driver places the blocks, and how it "
              "does is not known.");
    return;
  }
  if (is_put_off) {
    remedy.set_sufficiency(growth.may_end ? UNCERTAIN : NOT_ENOUGH);
    remedy.set_proof(growth.sentence);
    candidate.scenario.reset();
    return;
  }
  if (is_recorded && GradeByStep(oom, &candidate)) return;
  const Outcome outcome = oom.what_if().Try(*candidate.scenario);
  remedy.set_sufficiency(Grade(candidate, outcome));
  remedy.set_proof(Proof(oom, *candidate.scenario, outcome));
  remedy.set_has_bytes(candidate.scenario->limit_bytes.value_or(
      oom.what_if().settings().limit_bytes));
}

// Whether it is known that the whole step finds no place.
bool DoesNotFitStep(const OomCase& oom, const Scenario& scenario) {
  return oom.step() != nullptr && oom.step()->AppliesTo(scenario) &&
         oom.step()->Under(scenario).FitOf(
             0, scenario.limit_bytes.value_or(oom.limit_bytes())) ==
             Fit::kDoesNotFit;
}

// Marks the pairs of remedies of which neither is enough but both are.
void TryTogether(const OomCase& oom, std::vector<RemedyCandidate>& candidates) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t j = i + 1; j < candidates.size(); ++j) {
      RemedyCandidate& first = candidates[i];
      RemedyCandidate& second = candidates[j];
      if (first.remedy.sufficiency() != NOT_ENOUGH ||
          second.remedy.sufficiency() != NOT_ENOUGH ||
          !first.scenario.has_value() || !second.scenario.has_value()) {
        continue;
      }
      const Scenario both = Together(*first.scenario, *second.scenario);
      const Outcome outcome = oom.what_if().Try(both);
      if (!outcome.placed || DoesNotFitStep(oom, both)) continue;
      for (RemedyCandidate* remedy : {&first, &second}) {
        remedy->remedy.set_proof(
            absl::StrCat("Together: ", Proof(oom, both, outcome)));
      }
      first.remedy.add_with(second.remedy.kind());
      second.remedy.add_with(first.remedy.kind());
    }
  }
}

int Rank(const Remedy& remedy) {
  switch (remedy.sufficiency()) {
    case ENOUGH_ALONE:
      return 0;
    case REQUEST_FITS:
      return 1;
    case UNCERTAIN:
      return 2;
    default:
      return remedy.with().empty() ? 4 : 3;
  }
}

// The same code for the same line.
bool IsSameChange(const Remedy& a, const Remedy& b) {
  return !a.code().empty() && a.code() == b.code() &&
         a.line().file() == b.line().file() &&
         a.line().line() == b.line().line();
}

}  // namespace

std::vector<Remedy> FindRemedies(const OomCase& oom, std::vector<Cause> causes,
                                 const Verdict& verdict) {
  std::vector<RemedyCandidate> candidates;
  const Growth growth = GrowthOf(causes);
  const bool is_wrong_shape =
      std::any_of(causes.begin(), causes.end(),
                  [](const Cause& cause) { return cause.name == kWrongShape; });
  for (Cause& cause : causes) {
    // Other pieces help no step that all of them together are too small for.
    const bool is_of_pieces =
        cause.kind == kGrowthRegions && verdict.kind() != kGrowthRegions;
    if (cause.remedy.has_value() && !is_of_pieces) {
      candidates.push_back(*std::move(cause.remedy));
    }
  }
  for (const Finder find : kFinders) {
    // Room for what nobody meant to ask for is no remedy.
    if (is_wrong_shape) break;
    std::optional<RemedyCandidate> candidate = find(oom);
    if (candidate.has_value()) candidates.push_back(*std::move(candidate));
  }
  const uint64_t growth_bytes = UsageGrowthPerStep(oom);
  for (RemedyCandidate& candidate : candidates) {
    TryAlone(oom, growth, candidate);
    if (!EndsGrowth(candidate.remedy)) {
      PromiseNoFurther(growth_bytes, &candidate.remedy);
    }
    SayWhatIsCovered(oom, &candidate.remedy);
  }
  TryTogether(oom, candidates);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const RemedyCandidate& a, const RemedyCandidate& b) {
                     return Rank(a.remedy) < Rank(b.remedy);
                   });
  std::vector<Remedy> remedies;
  for (RemedyCandidate& candidate : candidates) {
    // Two causes may ask for one change: it is named by what it promises most.
    const bool is_named = std::any_of(
        remedies.begin(), remedies.end(), [&](const Remedy& earlier) {
          return IsSameChange(earlier, candidate.remedy);
        });
    if (!is_named) remedies.push_back(std::move(candidate.remedy));
  }
  return remedies;
}

}  // namespace oom_forensics
