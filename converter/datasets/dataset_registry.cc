#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/cancellation/cancellation.h"
#include "converter/datasets/address_history.h"
#include "converter/datasets/allocation_life.h"
#include "converter/datasets/allocations.h"
#include "converter/datasets/compare.h"
#include "converter/datasets/compiled_modules.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/driver_memory.h"
#include "converter/datasets/forecast.h"
#include "converter/datasets/fragmentation.h"
#include "converter/datasets/host_memory.h"
#include "converter/datasets/info.h"
#include "converter/datasets/leaks.h"
#include "converter/datasets/memory_timeline.h"
#include "converter/datasets/oom_window.h"
#include "converter/datasets/steps.h"
#include "converter/datasets/what_if.h"

namespace oom_forensics {
namespace {

constexpr DatasetEntry kDatasets[] = {
    {INFO, "info", AnswerInfo, "hosts.allocators"},
    {MEMORY_TIMELINE, "memory_timeline", AnswerMemoryTimeline,
     "series.columns"},
    {ALLOCATIONS, "allocations", AnswerAllocations, "allocations"},
    {FRAGMENTATION, "fragmentation", AnswerFragmentation, "maps.chunks"},
    {OOM_WINDOW, "oom_window", AnswerOomWindow, "ooms"},
    {DRIVER_MEMORY, "driver_memory", AnswerDriverMemory, "series.rows"},
    {LEAKS, "leaks", AnswerLeaks, "leaks"},
    {COMPARE, "compare", AnswerCompare, "rows"},
    {STEPS, "steps", AnswerSteps, "steps"},
    {ADDRESS_HISTORY, "address_history", AnswerAddressHistory, "rectangles"},
    {COMPILED_MODULES, "compiled_modules", AnswerCompiledModules, "modules"},
    {ALLOCATION_LIFE, "allocation_life", AnswerAllocationLife, "allocation"},
    {FORECAST, "forecast", AnswerForecast, "forecasts"},
    {WHAT_IF, "what_if", AnswerWhatIf, "limits"},
    {HOST_MEMORY, "host_memory", AnswerHostMemory, "series.columns"},
};

}  // namespace

const DatasetEntry* FindDataset(DatasetKind kind) {
  for (const DatasetEntry& dataset : kDatasets) {
    if (dataset.kind == kind) return &dataset;
  }
  return nullptr;
}

const DatasetEntry* FindDataset(std::string_view name) {
  for (const DatasetEntry& dataset : kDatasets) {
    if (dataset.name == name) return &dataset;
  }
  return nullptr;
}

std::string DatasetNames() {
  std::string names;
  for (const DatasetEntry& dataset : kDatasets) {
    if (!names.empty()) names += ", ";
    names += dataset.name;
  }
  return names;
}

absl::StatusOr<DatasetMessage> AnswerQuery(const DatasetInput& input) {
  const DatasetEntry* dataset = FindDataset(input.query.dataset());
  if (dataset == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("There is no dataset ", input.query.dataset(),
                     "; there are: ", DatasetNames(), "."));
  }
  absl::StatusOr<DatasetMessage> answer;
  try {
    answer = dataset->answer(input);
  } catch (const WorkCancelled& cancelled) {
    answer = absl::CancelledError(cancelled.what());
  }
  // What was asked of hosts that are gone is no answer.
  absl::Status lost = input.run.TakeLoadFailure();
  if (input.other_run != nullptr) {
    lost.Update(input.other_run->TakeLoadFailure());
  }
  if (!lost.ok()) return lost;
  return answer;
}

}  // namespace oom_forensics
