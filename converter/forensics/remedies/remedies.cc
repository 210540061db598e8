#include "converter/forensics/remedies/remedies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/remedies/usage_growth.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

using Finder = std::optional<RemedyCandidate> (*)(const OomCase&);

// What costs the user least first.
constexpr Finder kFinders[] = {
    FreeDevice,          ReleaseLeak,      Float32,
    ReleasePins,         SmallerBatch,     MixedPrecision,
    CheckpointGradients, MemoryGrowthOff,  CudaMallocAsync,
    LargerLimit,         RecomputeInBlock, JitCompileOff,
    CompileOnce,
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
  if (oom.has_layout() && scenario.then_step.has_value()) {
    rest = " and all that an earlier step like this one asked for";
  } else if (oom.has_layout() && !scenario.then_like.empty()) {
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

// That memory goes on growing, whatever else is changed.
struct Growth {
  // Empty: it does not.
  std::string sentence;
  // At a size that is not known.
  bool ends_by_itself = false;
};

Growth GrowthOf(const OomCase& oom, const std::vector<Cause>& causes) {
  for (const Cause& cause : causes) {
    if (cause.name == kOlderModels) {
      return {
          "The next round would keep as much again: this only puts the "
          "failure off."};
    }
    if (cause.name == kPipelineBuffer && !oom.leaks().empty()) {
      return {
          "The pipeline's cache goes on growing until it has all of the "
          "data set; how much that is is not in the trace.",
          true};
    }
  }
  double bytes_per_step = 0;
  for (const FoundLeak& leak : oom.leaks()) {
    if (leak.kind == FoundLeak::Kind::kGrowth &&
        IsWorthIt(oom, leak.live_bytes)) {
      bytes_per_step += leak.trend.slope;
    }
  }
  if (bytes_per_step < 1) return {};
  return {absl::StrCat("Memory would go on growing by up to ",
                       FormatBytes(static_cast<uint64_t>(bytes_per_step)),
                       " per step: this only puts the failure off.")};
}

bool EndsGrowth(const Remedy& remedy) {
  return remedy.kind() == kReleaseLeak || remedy.kind() == kReleaseModels ||
         remedy.kind() == kStopRetracing ||
         remedy.kind() == kSmallerPipelineBuffer;
}

Sufficiency Grade(const RemedyCandidate& candidate, const Outcome& outcome) {
  if (!outcome.placed) return NOT_ENOUGH;
  if (candidate.is_estimate) return UNCERTAIN;
  // Where only sums are tried, the rest of the step is not.
  const bool step_was_tried =
      candidate.scenario->then_step.has_value() && outcome.step_peak_bytes > 0;
  return step_was_tried ? ENOUGH_ALONE : REQUEST_FITS;
}

// A step that fits once does not in the end where each leaves more behind.
void PromiseNoFurther(uint64_t growth_bytes, Remedy* remedy) {
  if (growth_bytes == 0 || remedy->sufficiency() != ENOUGH_ALONE) return;
  remedy->set_sufficiency(REQUEST_FITS);
  remedy->set_proof(absl::StrCat(
      remedy->proof(), " But from step to step ", FormatBytes(growth_bytes),
      " more were in use: how much the later ones need is not known."));
}

void TryAlone(const OomCase& oom, const Growth& growth,
              RemedyCandidate& candidate) {
  Remedy& remedy = candidate.remedy;
  if (!candidate.scenario.has_value()) return;
  if (remedy.bytes() == 0) {
    remedy.set_bytes(FreedBytes(oom, *candidate.scenario));
  }
  const bool ends_growth = EndsGrowth(remedy);
  if ((growth.sentence.empty() || ends_growth) &&
      GradeByForecast(oom, &candidate)) {
    return;
  }
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
  if (!growth.sentence.empty() && !ends_growth) {
    remedy.set_sufficiency(growth.ends_by_itself ? UNCERTAIN : NOT_ENOUGH);
    remedy.set_proof(growth.sentence);
    candidate.scenario.reset();
    return;
  }
  const Outcome outcome = oom.what_if().Try(*candidate.scenario);
  remedy.set_sufficiency(Grade(candidate, outcome));
  remedy.set_proof(Proof(oom, *candidate.scenario, outcome));
  remedy.set_needs_low_bytes(outcome.step_peak_bytes);
  remedy.set_needs_high_bytes(outcome.step_peak_bytes);
  remedy.set_has_bytes(candidate.scenario->limit_bytes.value_or(
      oom.what_if().settings().limit_bytes));
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
      if (!outcome.placed) continue;
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

}  // namespace

std::vector<Remedy> FindRemedies(const OomCase& oom, const Verdict& verdict) {
  std::vector<RemedyCandidate> candidates;
  std::vector<Cause> causes = FindCauses(oom);
  const Growth growth = GrowthOf(oom, causes);
  for (Cause& cause : causes) {
    // Other pieces help no step that all of them together are too small for.
    const bool is_of_pieces =
        cause.kind == kGrowthRegions && verdict.kind() != kGrowthRegions;
    if (cause.remedy.has_value() && !is_of_pieces) {
      candidates.push_back(*std::move(cause.remedy));
    }
  }
  for (const Finder find : kFinders) {
    std::optional<RemedyCandidate> candidate = find(oom);
    if (candidate.has_value()) candidates.push_back(*std::move(candidate));
  }
  const uint64_t growth_bytes = UsageGrowthPerStep(oom);
  for (RemedyCandidate& candidate : candidates) {
    TryAlone(oom, growth, candidate);
    if (!EndsGrowth(candidate.remedy)) {
      PromiseNoFurther(growth_bytes, &candidate.remedy);
    }
  }
  TryTogether(oom, candidates);
  std::vector<Remedy> remedies;
  for (RemedyCandidate& candidate : candidates) {
    remedies.push_back(std::move(candidate.remedy));
  }
  std::stable_sort(
      remedies.begin(), remedies.end(),
      [](const Remedy& a, const Remedy& b) { return Rank(a) < Rank(b); });
  return remedies;
}

}  // namespace oom_forensics
