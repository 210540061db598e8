#include "converter/datasets/forecast.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/counterfactual/counterfactual.h"
#include "converter/counterfactual/recorded_step.h"
#include "converter/counterfactual/refused_step.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/forecast_columns.h"
#include "converter/datasets/selection.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kDefaultColumns = 200;
constexpr uint32_t kMaxColumns = 2000;
// Batches of the table: the recorded one and its halves, and twice it.
constexpr int kHalvings = 6;
// In one answer.
constexpr int kMaxForecastsTold = 100;

// "__inference_one_step_on_data_123" as a person knows it.
std::string FunctionName(std::string_view name) {
  constexpr std::string_view kPrefix = "__inference_";
  if (StartsWith(name, kPrefix)) name.remove_prefix(kPrefix.size());
  const size_t number = name.find_last_not_of("0123456789");
  if (number != std::string_view::npos && number + 1 < name.size() &&
      name[number] == '_') {
    name = name.substr(0, number);
  }
  return std::string(name);
}

ForecastFit FitMessage(Fit fit) {
  switch (fit) {
    case Fit::kFits:
      return FORECAST_FITS;
    case Fit::kUncertain:
      return FORECAST_UNCERTAIN;
    case Fit::kDoesNotFit:
      return FORECAST_DOES_NOT_FIT;
    case Fit::kUnknown:
      break;
  }
  return FORECAST_FIT_UNKNOWN;
}

ForecastNeed NeedMessage(const Counterfactual& step, int64_t batch,
                         uint64_t limit_bytes) {
  ForecastNeed message;
  const Need need = step.NeedOf(batch);
  message.set_batch(batch);
  message.set_low_bytes(need.low_bytes);
  message.set_high_bytes(need.high_bytes);
  message.set_fit(FitMessage(step.FitOf(batch, limit_bytes)));
  return message;
}

std::string Range(const ForecastNeed& need) {
  const std::string low = FormatBytes(need.low_bytes());
  const std::string high = FormatBytes(need.high_bytes());
  return low == high ? high : absl::StrCat(low, " to ", high);
}

std::string Sentence(const StepForecast& answer, const Counterfactual& step) {
  if (!answer.reason().empty()) {
    return absl::StrCat("There is no forecast of the step: ", answer.reason());
  }
  const ForecastNeed& need = answer.need();
  std::string text = absl::StrCat(
      answer.origin() != kRecordedOrigin ? "The whole step needs "
      : answer.function() == kWholeRecording
          ? "All that was recorded needs "
          : "A step like those before needs ",
      Range(need),
      answer.limit_bytes() == 0
          ? ""
          : absl::StrCat(" of ", FormatBytes(answer.limit_bytes())),
      need.batch() > 0 ? absl::StrCat(" at batch ", need.batch()) : "", ".");
  if (answer.largest_batch() > 0 && answer.largest_batch() < need.batch()) {
    absl::StrAppend(&text, " The largest batch that is sure to fit is ",
                    answer.largest_batch(), ".");
  }
  if (step.IsContradicted()) {
    absl::StrAppend(&text,
                    " But the step was refused memory where all of it should "
                    "have fit, or held more tensors of an op than were "
                    "forecast, so some of its memory is not known.");
  }
  return text;
}

// A number that lacks some of the step would be taken for the step's need.
std::string UnknownSizes(const ForecastTrace& forecast) {
  return absl::StrCat(
      "the sizes of what ", FormatCount(forecast.unknown_count), " of its ",
      CountOf(forecast.op_count, "op"),
      " make are not known from the graph (lengths that the data decides, as a "
      "rule), so no number is given.");
}

void FillOrders(const HostTrace& host, const Counterfactual& step,
                StepForecast* answer) {
  const ForecastTrace& forecast = step.forecast();
  for (size_t i = 0; i < forecast.orders.size(); ++i) {
    const ForecastOrderTrace& order = forecast.orders[i];
    const OrderOutcome outcome = step.OutcomeOf(i);
    ForecastOrder* message = answer->add_orders();
    message->set_name(order.name);
    message->set_peak_in_use_bytes(outcome.peak_in_use_bytes);
    message->set_smallest_limit_bytes(outcome.smallest_limit_bytes);
    message->set_refused_request(-1);
    if (outcome.refused_event.has_value()) {
      const ForecastEvent& event = order.events[*outcome.refused_event];
      message->set_refused_request(
          static_cast<int64_t>(*outcome.refused_event));
      message->set_refused_op(host.strings.Get(forecast.sites[event.index].op));
    }
  }
}

void FillBatches(const Counterfactual& step, StepForecast* answer) {
  if (!step.scales()) return;
  const int64_t batch = step.batch();
  std::vector<int64_t> sizes = {2 * batch};
  for (int64_t size = batch; size > 0 && sizes.size() < kHalvings + 2;
       size /= 2) {
    sizes.push_back(size);
  }
  answer->set_largest_batch(
      step.LargestBatch(answer->limit_bytes(), 4 * batch));
  if (answer->largest_batch() > 0) sizes.push_back(answer->largest_batch());
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int64_t size : sizes) {
    *answer->add_batches() = NeedMessage(step, size, answer->limit_bytes());
  }
}

// Where a forecast belongs: its OOM, or the pool that the step would have had.
struct Place {
  int oom = -1;
  std::string allocator;
  Counterfactual step;
};

// An OOM of the run, with its allocator at hand, and its step as remedies and
// what-if know it; null: it is not known whole.
struct LoadedOom {
  size_t host = 0;
  Row row = 0;
  SelectedAllocator allocator;
  std::shared_ptr<const Counterfactual> step;

  bool EndedBefore() const { return step != nullptr && step->is_recorded(); }
};

std::vector<LoadedOom> LoadOoms(const Run& run) {
  std::vector<LoadedOom> loaded;
  for (const OomRef& oom : ListOoms(run)) {
    SelectedAllocator allocator = LoadAllocator(run, oom.allocator);
    const AllocatorReplay& replay = *allocator.replay;
    auto step =
        StepOfRefusal(replay, allocator.host->Roles(replay), oom.row,
                      replay.trace().LimitAt(oom.row),
                      LeaksAt(allocator, oom.row)->steps, /*order=*/nullptr);
    loaded.push_back(
        {oom.allocator.host, oom.row, std::move(allocator), std::move(step)});
  }
  return loaded;
}

Place PlaceOf(const Run& run, const std::vector<LoadedOom>& ooms, size_t host,
              const ForecastTrace& forecast) {
  for (size_t i = 0; i < ooms.size(); ++i) {
    const AllocatorReplay& replay = *ooms[i].allocator.replay;
    const Row row = ooms[i].row;
    if (ooms[i].host != host || ForecastOf(replay, row) != &forecast) continue;
    const bool is_its_step = ooms[i].step != nullptr && !ooms[i].EndedBefore();
    return {static_cast<int>(i), replay.trace().name,
            is_its_step ? *ooms[i].step
                        : ForecastStepOfRefusal(
                              replay, ooms[i].allocator.host->Roles(replay),
                              row, replay.trace().LimitAt(row), forecast,
                              /*order=*/nullptr)};
  }
  // The host owns it.
  const std::shared_ptr<const ForecastTrace> not_begun(
      std::shared_ptr<const ForecastTrace>(), &forecast);
  // A step that had not begun meets what its process held, or, where no pool is
  // recorded, what it holds itself.
  const SharedHost analysis = run.Load(host);
  for (const auto& replay : analysis->allocators()) {
    if (replay->trace().name != forecast.allocator) continue;
    return {-1, replay->trace().name,
            Counterfactual(not_begun,
                           StreamAt(*replay, replay->end_position(),
                                    replay->trace().limit_bytes, forecast,
                                    /*order=*/nullptr))};
  }
  StepStream stream;
  stream.held_bytes = forecast.held_bytes;
  return {-1, "", Counterfactual(not_begun, std::move(stream))};
}

StepForecast Tell(const HostTrace& host, const Place& place,
                  const Query& query) {
  const Counterfactual& step = place.step;
  const ForecastTrace& forecast = step.forecast();
  StepForecast answer;
  answer.set_origin(forecast.origin);
  answer.set_host(host.host);
  answer.set_allocator(place.allocator);
  answer.set_oom(place.oom);
  answer.set_function(FunctionName(forecast.function));
  if (step.is_recorded()) answer.set_recorded_step(forecast.step_id);
  answer.set_limit_bytes(query.limit_bytes() > 0 ? query.limit_bytes()
                                                 : step.limit_bytes());
  answer.set_op_count(forecast.op_count);
  answer.set_unknown_count(forecast.unknown_count);
  answer.mutable_unknown_ops()->Assign(forecast.unknown_ops.begin(),
                                       forecast.unknown_ops.end());
  answer.mutable_assumed()->Assign(forecast.assumed.begin(),
                                   forecast.assumed.end());
  answer.set_reason(forecast.reason);
  answer.set_live_bytes(step.live_bytes());
  if (step.has_orders() && step.IsTooLow()) {
    answer.set_reason(UnknownSizes(forecast));
  } else if (step.has_orders()) {
    *answer.mutable_need() =
        NeedMessage(step, forecast.batch, answer.limit_bytes());
    FillOrders(host, step, &answer);
    FillBatches(step, &answer);
    FillForecastColumns(host, forecast, step.live_bytes(),
                        query.columns() == 0
                            ? kDefaultColumns
                            : std::min(query.columns(), kMaxColumns),
                        &answer);
  }
  answer.set_sentence(Sentence(answer, step));
  return answer;
}

// Several threads of one step may be refused memory, and each has the step
// forecast: the first tells of it.
bool IsToldBefore(const HostTrace& host, const ForecastTrace& forecast) {
  if (forecast.step_id == 0) return false;
  const auto first =
      std::find_if(host.forecasts.begin(), host.forecasts.end(),
                   [&](const ForecastTrace& other) {
                     return other.origin == forecast.origin &&
                            other.allocator == forecast.allocator &&
                            other.step_id == forecast.step_id;
                   });
  return &*first != &forecast;
}

// Adds the forecasts of steps that have a graph.
void AddSimulated(const DatasetInput& input, const std::vector<LoadedOom>& ooms,
                  Forecasts* answer) {
  for (size_t host = 0; host < input.run.hosts().size(); ++host) {
    const std::string& asked = input.query.filter().host();
    if (!asked.empty() && asked != input.run.hosts()[host].host) continue;
    const SharedHost analysis = input.run.Load(host);
    for (const ForecastTrace& forecast : analysis->trace().forecasts) {
      if (IsToldBefore(analysis->trace(), forecast)) continue;
      const Place place = PlaceOf(input.run, ooms, host, forecast);
      if (input.query.has_oom() && place.oom != input.query.oom()) continue;
      *answer->add_forecasts() = Tell(analysis->trace(), place, input.query);
    }
  }
}

// Why nothing tells of the step that an OOM ended.
StepForecast NotForecast(const LoadedOom& oom, int number) {
  const AllocatorReplay& replay = *oom.allocator.replay;
  StepForecast answer;
  answer.set_origin("oom");
  answer.set_host(oom.allocator.host->trace().host);
  answer.set_allocator(replay.trace().name);
  answer.set_oom(number);
  answer.set_limit_bytes(replay.trace().LimitAt(oom.row));
  answer.set_reason(absl::StrCat(
      replay.SiteOf(oom.row).mode == SiteMode::kEager
          ? "its ops ran one by one, from Python, so no graph says which would "
            "have followed"
          : "its graph was not recorded",
      ", and no step like it had ended before. `oom-forensics rehearse` runs "
      "the program with enough memory, and says what it needs and which batch "
      "fits."));
  answer.set_sentence(
      absl::StrCat("There is no forecast of the step: ", answer.reason()));
  return answer;
}

// Adds an earlier step that is alike for each step that an OOM ended and whose
// graph says too little.
void AddEndedSteps(const DatasetInput& input,
                   const std::vector<LoadedOom>& ooms, Forecasts* answer) {
  std::set<int> told;
  for (const StepForecast& forecast : answer->forecasts()) {
    told.insert(forecast.oom());
  }
  for (size_t i = 0; i < ooms.size(); ++i) {
    const LoadedOom& oom = ooms[i];
    const int number = static_cast<int>(i);
    if (input.query.has_oom() && input.query.oom() != number) continue;
    if (answer->forecasts_size() >= kMaxForecastsTold) break;
    if (oom.EndedBefore()) {
      const Place place{number, oom.allocator.replay->trace().name, *oom.step};
      *answer->add_forecasts() =
          Tell(oom.allocator.host->trace(), place, input.query);
    } else if (told.count(number) == 0) {
      *answer->add_forecasts() = NotForecast(oom, number);
    }
  }
}

// Adds the heaviest step of each allocator of a run that came to its end.
void AddHeaviestSteps(const DatasetInput& input, const Selection& selected,
                      Forecasts* answer) {
  for (const SelectedAllocator& allocator : selected) {
    const AllocatorReplay& replay = *allocator.replay;
    std::optional<RecordedStep> step = HeaviestStep(
        replay, allocator.host->Roles(replay), replay.trace().limit_bytes);
    if (!step.has_value()) continue;
    const Place place{-1, replay.trace().name,
                      Counterfactual(std::make_shared<const ForecastTrace>(
                                         std::move(step->forecast)),
                                     std::move(step->stream))};
    *answer->add_forecasts() =
        Tell(allocator.host->trace(), place, input.query);
  }
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerForecast(const DatasetInput& input) {
  const auto selected = SelectAllocators(input.run, input.query.filter());
  if (!selected.ok()) return selected.status();
  auto answer = std::make_unique<Forecasts>();
  const std::vector<LoadedOom> ooms = LoadOoms(input.run);
  AddSimulated(input, ooms, answer.get());
  AddEndedSteps(input, ooms, answer.get());
  // The forecast of a step that had not begun says more.
  if (ooms.empty() && answer->forecasts().empty() && !input.query.has_oom()) {
    AddHeaviestSteps(input, *selected, answer.get());
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
