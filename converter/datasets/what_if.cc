#include "converter/datasets/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/counterfactual/refused_step.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/what_if_change.h"
#include "converter/datasets/what_if_course.h"
#include "converter/datasets/what_if_pool.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// What makes a recording less than all that was asked for.
constexpr QualityCounter kGaps[] = {
    QualityCounter::kTruncatedFile, QualityCounter::kDroppedEvents,
    QualityCounter::kSampled,       QualityCounter::kSmallAllocationsLeftOut,
    QualityCounter::kNoBaseline,    QualityCounter::kIncompleteBaseline,
    QualityCounter::kLiveSetFull,   QualityCounter::kUnnamedBaseline,
    QualityCounter::kNoAddresses,   QualityCounter::kOverlappingChunks,
    QualityCounter::kInvalidSize,
};

bool HasGaps(const SelectedAllocator& allocator) {
  for (const QualityCounter gap : kGaps) {
    if (allocator.host->trace().quality.count(gap) != 0 ||
        allocator.replay->trace().quality.count(gap) != 0 ||
        allocator.replay->quality().count(gap) != 0) {
      return true;
    }
  }
  return false;
}

// Adds the doubts about comparing sums with a limit.
void AddSumDoubts(const WhatIfPool& pool, WhatIfAnswer* answer) {
  answer->add_doubts(
      "cuda_malloc_async was not run: how the driver's pool divides its memory "
      "is not known, so only the sum of live bytes was compared with the "
      "limit. If the sum is too large, that pool fails, too; if it is not, the "
      "pool may still fail.");
  if (pool.allocator().replay->trace().device.find("GPU") ==
      std::string::npos) {
    answer->add_doubts(
        "TensorFlow offers cuda_malloc_async for GPUs only; this allocator is "
        "not a GPU's.");
  }
}

// Of TensorFlow's allocator as modelled.
void AddModelDoubts(const WhatIfPool& pool, WhatIfAnswer* answer) {
  const Simulation& as_recorded = pool.as_recorded();
  const bool failed = !pool.allocator().replay->failure_positions().empty();
  if (as_recorded.refused != kNoRow) {
    answer->add_doubts(
        "Left as recorded, the model refuses a request that TensorFlow served: "
        "this trace does not confirm its answers.");
  } else if (as_recorded.moved > 0) {
    answer->add_doubts(absl::StrCat("Left as recorded, the model places ",
                                    FormatCount(as_recorded.moved), " of ",
                                    FormatCount(pool.order().requests),
                                    " allocations where TensorFlow did not."));
  }
  if (failed && as_recorded.refused == kNoRow &&
      as_recorded.refused_again == kNoRow) {
    answer->add_doubts(
        "Left as recorded, the model serves the request that TensorFlow "
        "refused: the pool could not have what its limit allowed.");
  }
  if (pool.allocator().replay->regions_derived()) {
    answer->add_doubts(
        "The trace does not say which regions the pool held: where it began is "
        "derived from the addresses seen.");
  }
}

void AddDoubts(const WhatIfPool& pool, const Scenario& scenario,
               const std::vector<std::string>& of_change,
               WhatIfAnswer* answer) {
  if (pool.sums_only()) {
    AddSumDoubts(pool, answer);
  } else {
    AddModelDoubts(pool, answer);
  }
  if (pool.recorded_limit_bytes() == 0 && !scenario.limit_bytes.has_value()) {
    answer->add_doubts(absl::StrCat(
        "The trace does not say how large the pool could become; it was taken "
        "for full at the ",
        FormatBytes(pool.settings().limit_bytes), " that it held."));
  }
  if (HasGaps(pool.allocator())) {
    answer->add_doubts(
        "The recording is incomplete (see its notes): missing requests are not "
        "replayed.");
  }
  for (const std::string& doubt : of_change) answer->add_doubts(doubt);
  // Beyond a refusal a job goes on otherwise than it did.
  if (answer->fits() && !pool.allocator().replay->failure_positions().empty()) {
    answer->add_doubts(
        "The job was refused memory when it was recorded: the trace does not "
        "show everything that it would have requested after that.");
  }
}

// "512 MiB", "512 MiB to 640 MiB"
std::string BytesBetween(uint64_t low, uint64_t high) {
  const std::string most = FormatBytes(high);
  const std::string least = FormatBytes(low);
  return least == most ? most : absl::StrCat(least, " to ", most);
}

std::string Sentence(const WhatIfPool& pool, const WhatIfAnswer& answer) {
  const WhatIfCourse& asked = answer.asked();
  std::string sentence =
      absl::StrCat("With a limit of ", FormatBytes(asked.limit_bytes()));
  if (pool.sums_only()) {
    absl::StrAppend(&sentence,
                    asked.fits() ? " the sum of what is live stays within it."
                                 : " the sum of what is live goes beyond it.");
  } else {
    absl::StrAppend(&sentence, asked.growth() ? "" : ", taken at once,");
    if (asked.fits()) {
      absl::StrAppend(&sentence, " every recorded request fits.");
    } else {
      absl::StrAppend(&sentence, " a request for ",
                      FormatBytes(asked.refused().requested_bytes()),
                      " finds none.");
    }
  }
  if (answer.smallest_limit_bytes() != 0) {
    absl::StrAppend(&sentence, " The smallest limit that is enough",
                    answer.recorded().fits() || answer.step_high_bytes() != 0
                        ? ""
                        : " for what was recorded",
                    " is ", FormatBytes(answer.smallest_limit_bytes()), ".");
  }
  if (answer.step_high_bytes() != 0) {
    absl::StrAppend(
        &sentence, " The whole of the step that was refused needs ",
        BytesBetween(answer.step_low_bytes(), answer.step_high_bytes()), ".");
  }
  return sentence;
}

// Nothing: it can be asked.
absl::Status CannotBeAsked(const SelectedAllocator& allocator,
                           const std::string& kind) {
  const AllocatorReplay& replay = *allocator.replay;
  const std::string& name = replay.trace().name;
  if (!kind.empty() && kind != "bfc" && kind != "async") {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", kind, "\" is not one of bfc, async."));
  }
  if (!replay.trace().has_layout && kind != "async") {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        " takes each block from the device's driver: there is no pool to "
        "model. --allocator=async compares its sums with a limit."));
  }
  if (replay.trace().row_count() == 0) {
    const bool no_addresses =
        replay.trace().quality.count(QualityCounter::kNoAddresses) != 0;
    return absl::InvalidArgumentError(absl::StrCat(
        name, no_addresses ? " has only events without addresses, so frees "
                             "cannot be matched with allocations."
                           : " has no requests in this trace."));
  }
  return absl::OkStatus();
}

// The whole of the step of the first OOM, of which the trace has the requests
// only up to the refusal, under what a question changes, with its batch.
// Nothing: there is no OOM, or what the step would do then is not known.
std::optional<std::pair<Counterfactual, int64_t>> StepUnder(
    const WhatIfPool& pool, const WhatIfSettings& settings, Scenario change) {
  const AllocatorReplay& replay = *pool.allocator().replay;
  if (pool.sums_only() || replay.failure_positions().empty()) return {};
  const Row failure = replay.failure_positions().front();
  const auto step = StepOfRefusal(replay, pool.allocator().host->Roles(replay),
                                  failure, pool.recorded_limit_bytes(),
                                  LeaksAt(pool.allocator(), failure)->steps,
                                  /*order=*/nullptr);
  if (step == nullptr) return {};
  int64_t batch = 0;
  if (settings.batch_scale() != 0) {
    if (!step->scales()) return {};
    batch =
        std::max<int64_t>(1, std::llround(static_cast<double>(step->batch()) *
                                          settings.batch_scale()));
    // The step knows itself what grows with the batch.
    if (settings.dtype_size() == 0 && settings.without_scope_size() == 0) {
      change.resized = nullptr;
      change.is_left_out = nullptr;
    }
  }
  const bool leaves_own_out =
      !step->is_recorded() && settings.without_scope_size() != 0;
  if (leaves_own_out || !step->AppliesTo(change)) return {};
  return {{step->Under(std::move(change)), batch}};
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerWhatIf(const DatasetInput& input) {
  const Query& query = input.query;
  const WhatIfSettings& settings = query.what_if();
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  const AllocatorRef* chosen = ChooseAllocator(*selected);
  if (chosen == nullptr) {
    return absl::InvalidArgumentError(
        "The trace has no allocator whose requests could be replayed.");
  }
  const SelectedAllocator allocator = LoadAllocator(input.run, *chosen);
  absl::Status askable = CannotBeAsked(allocator, settings.allocator_kind());
  if (!askable.ok()) return askable;
  const auto change = MakeWhatIfChange(allocator, settings);
  if (!change.ok()) return change.status();
  const auto at = ResolveMoment(input.run, allocator, query);
  if (!at.ok()) return at.status();
  const Position map_at =
      std::max(*at, allocator.replay->trace().baseline_rows);

  const WhatIfPool pool(allocator, settings.allocator_kind() == "async");
  const Simulation run = pool.Run(change->scenario, map_at);
  auto answer = std::make_unique<WhatIfAnswer>();
  answer->set_host(allocator.host->trace().host);
  answer->set_allocator(allocator.replay->trace().name);
  *answer->mutable_asked() =
      AskedCourse(pool, change->scenario, run, settings.maps());
  *answer->mutable_recorded() = RecordedCourse(pool, map_at, settings.maps());
  const auto step = StepUnder(pool, settings, change->scenario);
  answer->set_fits(
      answer->asked().fits() &&
      (!step.has_value() ||
       step->first.FitOf(step->second, answer->asked().limit_bytes()) ==
           Fit::kFits));
  answer->set_peak_in_use_bytes(run.peak_in_use_bytes);
  answer->set_peak_reserved_bytes(run.peak_reserved_bytes);
  answer->set_largest_free_bytes(run.largest_free_bytes);
  if (!pool.sums_only()) {
    answer->set_requests(pool.order().requests);
    answer->set_placed_alike(pool.as_recorded().requests -
                             pool.as_recorded().moved);
  }
  if (settings.find_smallest_limit()) {
    const WhatIfPool::SmallestLimit smallest =
        pool.FindSmallestLimit(change->scenario);
    answer->set_smallest_limit_bytes(smallest.bytes);
    for (const WhatIfLimit& limit : smallest.tried) {
      *answer->add_limits() = limit;
    }
    if (step.has_value()) {
      const Need need = step->first.NeedOf(step->second);
      answer->set_step_low_bytes(need.low_bytes);
      answer->set_step_high_bytes(need.high_bytes);
      // What was recorded is not all that has to find a place.
      if (smallest.bytes != 0) {
        answer->set_smallest_limit_bytes(
            std::max(smallest.bytes, step->first.EnoughLimit(step->second)));
      }
    }
  }
  answer->set_batch_size(BatchSharesOf(allocator).size());
  answer->set_sentence(Sentence(pool, *answer));
  AddDoubts(pool, change->scenario, change->doubts, answer.get());
  AddQuality(Selection(input.run, {*chosen}), answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
