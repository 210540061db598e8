// What comes in: arrays handed over whole, and what an input pipeline holds.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/trace/forecast_trace.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Examples of one call, as the remedy says.
constexpr uint64_t kPartExamples = 32;
// Part of the memory in use that whole arrays must hold, and each of them.
constexpr double kHostDataShare = 0.25;
constexpr double kTensorShare = 0.1;
// Where a keeper is a local variable of what TensorFlow generates for an op:
// "(gen_nn_ops.py:1434)".
constexpr const char* kOpWrapper = "(gen_";
// Fewer elements are what a pipeline is working on.
constexpr size_t kMinElements = 64;
// Part of the memory in use that a pipeline's tensors must hold.
constexpr double kPipelineShare = 0.2;
// One batch is used, one is ready, one is being made: what prefetch(1) has.
constexpr size_t kNeededBatches = 3;
// Elements that are still to be put together to a batch are more, and smaller.
constexpr double kBatchShare = 0.01;
// In the name of the op that makes any part of a pipeline.
constexpr const char* kPipelineOp = "Dataset";
// What Keras 3 calls the function that does several steps of predict().
constexpr const char* kManySteps = "multi_step_on_data";

// A part of a pipeline that keeps elements, by the op that made it.
struct Buffer {
  const char* op;
  const char* name;
  const char* title;
  const char* code;
};

constexpr Buffer kBuffers[] = {
    {"ShuffleDataset", "shuffle()",
     "Shuffle fewer elements at a time, or shuffle before they are decoded.",
     "dataset.shuffle(1024).map(decode)"},
    {"CacheDataset", "cache()",
     "Cache in a file, or before the elements are decoded.",
     "dataset.cache(filename)"},
};

constexpr const Buffer& kCache = kBuffers[1];

bool HasLiveOp(const OomCase& oom, const char* part_of_name) {
  return std::any_of(oom.live().begin(), oom.live().end(), [&](Row row) {
    return absl::StrContains(oom.host().OpOf(oom.replay().SiteOf(row)),
                             part_of_name);
  });
}

// Says so where an op made a tensor as large as one of the arrays: the whole of
// it is one batch.
std::string OneBatchOfAll(const OomCase& oom, const std::vector<Row>& arrays) {
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    const auto is_as_large = [&](Row array) {
      return oom.replay().SiteOf(array).requested_bytes == site.requested_bytes;
    };
    if (oom.host().OpOf(site).empty() || oom.host().ShapeOf(site).empty() ||
        oom.host().OpOf(site) == "_EagerConst" ||
        std::none_of(arrays.begin(), arrays.end(), is_as_large)) {
      continue;
    }
    return absl::StrCat("All of it is one batch, ", oom.host().ShapeOf(site),
                        ": set a batch_size. predict() and evaluate() take "
                        "one; a model called on an array does not.");
  }
  return "";
}

// How many examples are in the one of them that the refused op is called on: an
// op that ran by itself, and nothing but this call of TensorFlow's wrapper for
// it holds the tensor. 0: none is.
uint64_t ExamplesOfOneCall(const OomCase& oom, const std::vector<Row>& arrays) {
  std::vector<int64_t> dims;
  if (oom.site().mode != SiteMode::kEager ||
      !ParseShape(oom.host().ShapeOf(oom.site()), &dims) || dims.empty() ||
      dims[0] < 2) {
    return 0;
  }
  const auto examples = static_cast<uint64_t>(dims[0]);
  for (const FoundKeeper& keeper : oom.held().KeepersOf(arrays)) {
    const std::vector<std::string>& chain = keeper.recorded->chain;
    if (chain.size() == 1 && absl::StrContains(chain[0], kOpWrapper) &&
        keeper.rows.size() == 1 &&
        oom.replay().SiteOf(keeper.rows[0]).requested_bytes % examples == 0) {
      return examples;
    }
  }
  return 0;
}

// Whether it came from NumPy: no op made it, it is no variable's value, and
// where calls are recorded with their stacks it has one (a batch that a thread
// of a pipeline put together has none).
bool IsFromHost(const OomCase& oom, bool has_stacks, Row row) {
  const AllocationSite& site = oom.replay().SiteOf(row);
  const std::string& op = oom.host().OpOf(site);
  return (op.empty() || op == "_EagerConst") &&
         !(has_stacks && site.stack == kNoStack) &&
         !oom.held().IsVariable(row) &&
         IsShareOfUse(oom, oom.replay().BytesOf(row), kTensorShare);
}

// Whether a thread of the pipeline made it: no op of the step, not where the
// program itself called (what it makes from NumPy has a line), and no object of
// the program's.
bool MayBeBatch(const OomCase& oom, Row row) {
  const AllocationSite& site = oom.replay().SiteOf(row);
  return site.stack == kNoStack && site.mode != SiteMode::kEager &&
         site.compiled == 0 && !oom.IsOfThisStep(row) &&
         !oom.held().IsKept(row) && !IsModels(oom.roles().RoleOf(row)) &&
         IsShareOfUse(oom, site.requested_bytes, kBatchShare);
}

// The group that holds most.
template <typename Key>
std::vector<Row> LargestGroup(const OomCase& oom,
                              std::map<Key, std::vector<Row>> groups) {
  std::vector<Row> largest;
  uint64_t most_bytes = 0;
  for (auto& [key, rows] : groups) {
    const uint64_t bytes = BytesOf(oom, rows);
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    largest = std::move(rows);
  }
  std::sort(largest.begin(), largest.end());
  return largest;
}

// What was made one by one, each in a run of its own of a function of the
// pipeline, and no object of the program keeps.
std::vector<Row> Elements(const OomCase& oom) {
  std::map<SiteId, std::vector<Row>> by_site;
  for (const Row row : oom.live()) {
    if (!oom.held().IsKept(row)) {
      by_site[oom.replay().trace().site[row]].push_back(row);
    }
  }
  for (auto it = by_site.begin(); it != by_site.end();) {
    const size_t runs = RunsOf(oom, it->second);
    const bool is_few = runs < kMinElements || 2 * runs < it->second.size();
    it = is_few ? by_site.erase(it) : std::next(it);
  }
  return LargestGroup(oom, std::move(by_site));
}

// Batches of one kind that are ready or being made.
std::vector<Row> BatchesAhead(const OomCase& oom) {
  std::map<std::pair<StringId, uint64_t>, std::vector<Row>> alike;
  for (const Row row : oom.live()) {
    if (!MayBeBatch(oom, row)) continue;
    const AllocationSite& site = oom.replay().SiteOf(row);
    alike[{site.op, site.requested_bytes}].push_back(row);
  }
  for (auto it = alike.begin(); it != alike.end();) {
    const bool is_of_op = it->first.first != kEmptyString;
    const bool is_few =
        it->second.size() <= kNeededBatches ||
        (is_of_op && RunsOf(oom, it->second) < it->second.size());
    it = is_few ? alike.erase(it) : std::next(it);
  }
  return LargestGroup(oom, std::move(alike));
}

}  // namespace

std::optional<Cause> FindHostData(const OomCase& oom) {
  const bool has_stacks = std::any_of(
      oom.live().begin(), oom.live().end(),
      [&oom](Row row) { return oom.replay().SiteOf(row).stack != kNoStack; });
  std::vector<Row> arrays;
  for (const Row row : oom.live()) {
    if (IsFromHost(oom, has_stacks, row)) arrays.push_back(row);
  }
  const uint64_t bytes = BytesOf(oom, arrays);
  if (arrays.empty() || !IsShareOfUse(oom, bytes, kHostDataShare)) {
    return std::nullopt;
  }
  const std::string one_batch = OneBatchOfAll(oom, arrays);
  const uint64_t examples =
      one_batch.empty() ? ExamplesOfOneCall(oom, arrays) : 0;
  const std::string from_numpy =
      absl::StrCat(FormatBytes(bytes), " in ", CountOf(arrays.size(), "tensor"),
                   " came from NumPy");
  Cause cause = MakeCause(
      "host_data", "CAPACITY", bytes,
      examples > 0
          ? absl::StrCat(from_numpy, ", and one call works on all of it, ",
                         FormatCount(examples),
                         " examples at once: predict() takes a batch_size, a "
                         "model called on an array does not.")
          : absl::StrCat(
                from_numpy,
                " as a whole, perhaps a data set: fit(array) and "
                "from_tensor_slices(array) keep all of it in this memory.",
                one_batch.empty() ? "" : " ", one_batch));
  AddRelease(
      oom, arrays,
      {"batches_from_host",
       "Leave the data set in NumPy, and pass one batch at a time.", "",
       examples > 0
           ? absl::StrCat("model.predict(array, batch_size=", kPartExamples,
                          ")  # not model(array)")
           : "tf.data.Dataset.from_generator(batches, output_signature=...)  "
             "# or a keras.utils.PyDataset"},
      &cause);
  if (examples > kPartExamples) {
    cause.remedy->scenario->resized = [failure = oom.failure(), examples](
                                          Row row, uint64_t bytes) {
      return row == failure ? bytes / examples * kPartExamples : bytes;
    };
    // What else the model makes of a part is not in the trace.
    cause.remedy->is_estimate = true;
  }
  return cause;
}

std::optional<Cause> FindPipelineBuffer(const OomCase& oom) {
  const std::vector<Row> elements = Elements(oom);
  if (elements.empty()) return std::nullopt;
  // A cache grows in number from step to step until it has all of the data set.
  const SiteId site = oom.replay().trace().site[elements.front()];
  const bool grows = std::any_of(
      oom.leaks().begin(), oom.leaks().end(), [&](const FoundLeak& leak) {
        return leak.kind == FoundLeak::Kind::kGrowth &&
               oom.replay().trace().site[leak.rows.front()] == site;
      });
  const Buffer* found = nullptr;
  for (const Buffer& buffer : kBuffers) {
    if (grows && &buffer != &kCache) continue;
    if (found == nullptr && HasLiveOp(oom, buffer.op)) found = &buffer;
  }
  const uint64_t bytes = BytesOf(oom, elements);
  // Where Python told of nothing, what grows may be a list of the program's.
  if (found == nullptr || (grows && !oom.held().knows_keepers()) ||
      !IsShareOfUse(oom, bytes, kPipelineShare)) {
    return std::nullopt;
  }
  Cause cause = MakeCause(
      "pipeline_buffer", grows ? kLeakLike : "CAPACITY", bytes,
      absl::StrCat(
          found->name, " of the input pipeline keeps elements: ",
          FormatCount(elements.size()), " outputs of ",
          DescribeSite(oom.host(), oom.replay().SiteOf(elements.front())), ", ",
          FormatBytes(bytes), ", one from each run of its function.",
          grows ? " It keeps growing until it holds the whole data set." : ""));
  if (grows) {
    cause.growth = {
        "The pipeline's cache keeps growing until it holds the whole data set; "
        "the trace does not show how large that is.",
        true};
  }
  AddRelease(oom, elements,
             {kSmallerPipelineBuffer, found->title,
              "Numbers and file names take almost no memory; a buffer after "
              "the function that decodes them holds whole tensors.",
              found->code},
             &cause);
  return cause;
}

std::optional<Cause> FindPrefetchedBatches(const OomCase& oom) {
  if (!oom.leaks().empty() || !HasLiveOp(oom, kPipelineOp)) {
    return std::nullopt;
  }
  std::vector<Row> batches = BatchesAhead(oom);
  const uint64_t bytes = BytesOf(oom, batches);
  if (batches.empty() || !IsShareOfUse(oom, bytes, kPipelineShare)) {
    return std::nullopt;
  }
  Cause cause = MakeCause(
      "prefetched_batches", "CAPACITY", bytes,
      absl::StrCat(
          "The input pipeline is ahead of the steps: ",
          CountOf(batches.size(), "tensor"), " of ",
          FormatBytes(oom.replay().SiteOf(batches.front()).requested_bytes),
          " are ready or being made, ", FormatBytes(bytes),
          " in all. prefetch() keeps as many as its argument says, and a "
          "parallel map() keeps one for each call."));
  batches.resize(batches.size() - kNeededBatches);
  AddRelease(oom, batches,
             {"less_prefetch",
              "Let the input pipeline run less far ahead: a smaller "
              "prefetch(), fewer parallel calls.",
              "One prefetched batch hides the time to make the next one; more "
              "batches help only if that time varies.",
              "dataset.prefetch(1)  # and map(..., num_parallel_calls=2)"},
             &cause);
  return cause;
}

// One call of the function of predict() fetches as many batches as it does
// steps, and keeps the outputs of all until they are joined.
std::optional<Cause> FindStepsInOneCall(const OomCase& oom) {
  const ForecastTrace* const graph = ForecastOf(oom.replay(), oom.failure());
  if (graph == nullptr || !absl::StrContains(graph->function, kManySteps)) {
    return std::nullopt;
  }
  // Each step makes the same: batches and outputs alike, as many as there are
  // steps. What is larger than all of them together is something else.
  std::map<uint64_t, std::vector<Row>> alike;
  const Position begin =
      BeginOfRun(oom.replay(), oom.failure(), graph->step_id);
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    // Older tensors count only if they are batches: a thread of the pipeline
    // made them, or they came from NumPy.
    const bool is_of_program =
        row < begin && !oom.host().OpOf(site).empty() &&
        (site.stack != kNoStack || site.mode == SiteMode::kEager);
    if (!IsModels(oom.roles().RoleOf(row)) && !is_of_program) {
      alike[site.requested_bytes].push_back(row);
    }
  }
  std::vector<Row> of_other_steps;
  uint64_t bytes = 0;
  size_t most = 0;
  for (const auto& [size, rows] : alike) {
    if (rows.size() < 2) continue;
    bytes += BytesOf(oom, rows);
    if (IsShareOfUse(oom, size * rows.size(), kPipelineShare)) {
      most = std::max(most, rows.size());
    }
    of_other_steps.insert(of_other_steps.end(), rows.begin(), rows.end() - 1);
  }
  if (most < 2) return std::nullopt;
  Cause cause = MakeCause(
      "steps_in_one_call", "CAPACITY", bytes,
      absl::StrCat("steps_per_execution makes predict() run several steps in "
                   "one call. The call fetches all their batches first, and "
                   "keeps their outputs until the last step is done: ",
                   FormatBytes(bytes), " in ", FormatCount(most),
                   " batches by now."));
  AddRelease(
      oom, of_other_steps,
      {"fewer_steps_per_execution", "Predict with steps_per_execution=1.", "",
       "model.compile(..., steps_per_execution=1)  # before predict()"},
      &cause);
  // The forecast is of all steps of the call.
  cause.remedy->is_estimate = true;
  return cause;
}

}  // namespace oom_forensics
