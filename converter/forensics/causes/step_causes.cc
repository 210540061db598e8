// What the step asks for, and how the pool answers it.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/replay/device_replay.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "converter/trace/site_source.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// A request of so many times the limit fits on no device that the program was
// written for; of so many times the largest tensor before it, it is no next
// step of what was there.
constexpr uint64_t kFarBeyondLimit = 4;
constexpr uint64_t kFarBeyondTensors = 32;

constexpr std::string_view kLoopBody = "while/body/";
// Fewer iterations are no story.
constexpr uint64_t kMinIterations = 8;
// Part of the memory in use that the loop must hold.
constexpr double kIterationsShare = 0.2;

// All copies of a variable together must be this part of what is in use.
constexpr double kCopiesShare = 0.5;
constexpr size_t kMinCopies = 3;
// Smaller ones are no large variable, however many are alike.
constexpr double kCopyShare = 0.1;

// Part of the limit that slack must be to be worth a sentence.
constexpr double kSlackShare = 0.1;

// The largest request that was served before the failure.
uint64_t LargestServed(const OomCase& oom) {
  const AllocatorTrace& trace = oom.replay().trace();
  uint64_t largest = 0;
  for (Row row = 0; row < oom.failure(); ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    largest = std::max(largest, oom.replay().SiteOf(row).requested_bytes);
  }
  return largest;
}

// Whether a tensor of [size,1] was made, as a model predicts one number each.
bool HasColumn(const OomCase& oom, int64_t size) {
  const std::string column = absl::StrCat("[", size, ",1]");
  for (SiteId id = 0; id < oom.host().sites.size(); ++id) {
    if (oom.host().ShapeOf(oom.host().sites.Get(id)) == column) return true;
  }
  return false;
}

struct Loop {
  uint64_t bytes = 0;
  std::map<SiteId, uint64_t> kept_by_site;
};

// How many iterations were done: what is made once in each is kept as often,
// and most tensors are. 0: too few to tell.
uint64_t IterationsOf(const OomCase& oom, const Loop& loop) {
  // By count: how many sites, and their bytes.
  std::map<uint64_t, std::pair<size_t, uint64_t>> by_count;
  for (const auto& [site, kept] : loop.kept_by_site) {
    if (kept < kMinIterations) continue;
    ++by_count[kept].first;
    by_count[kept].second += kept * oom.host().sites.Get(site).requested_bytes;
  }
  const auto most = std::max_element(
      by_count.begin(), by_count.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_count.end() ? 0 : most->first;
}

// The scope of the layer that loops, "sequential_1/lstm_1"; empty: a loop of
// the function's own. Nothing: the op is in no loop.
std::optional<std::string> LoopOf(std::string_view op_name) {
  const size_t body = op_name.find(kLoopBody);
  if (body == std::string_view::npos ||
      (body != 0 && op_name[body - 1] != '/')) {
    return std::nullopt;
  }
  std::string_view scope = StripCallPrefix(op_name.substr(0, body));
  ConsumeSuffix(&scope, "/");
  return std::string(scope);
}

// Tensors of the same bytes as a variable, by what they are.
struct Copies {
  uint64_t of_one_bytes = 0;
  size_t variables = 0;
  std::vector<Row> slots;
  size_t gradients = 0;
  size_t others = 0;
  bool has_dense_gradient = false;
  std::string shape;

  size_t count() const { return variables + slots.size() + gradients + others; }
};

Copies CountCopies(const OomCase& oom, uint64_t bytes,
                   const std::vector<Row>& rows) {
  Copies copies;
  copies.of_one_bytes = bytes;
  const auto count_gradient = [&](const AllocationSite& site) {
    ++copies.gradients;
    // What adds the rows of a sparse gradient up to a dense one.
    copies.has_dense_gradient |=
        absl::StrContains(oom.host().OpOf(site), "UnsortedSegmentSum");
  };
  for (const Row row : rows) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (copies.shape.empty()) copies.shape = oom.host().ShapeOf(site);
    const Role role = oom.roles().RoleOf(row);
    if (role == ROLE_OPTIMIZER) {
      copies.slots.push_back(row);
    } else if (role == ROLE_VARIABLE || oom.held().IsVariable(row)) {
      ++copies.variables;
    } else if (role == ROLE_GRADIENT) {
      count_gradient(site);
    } else {
      ++copies.others;
    }
  }
  if (bytes == oom.requested_bytes()) {
    const SiteId site = oom.replay().trace().site[oom.failure()];
    if (oom.roles().RoleOfFailed(site) == ROLE_GRADIENT) {
      count_gradient(oom.site());
    } else {
      ++copies.others;
    }
  }
  return copies;
}

}  // namespace

std::optional<Cause> FindWrongShape(const OomCase& oom) {
  std::vector<int64_t> dims;
  const uint64_t served_bytes = LargestServed(oom);
  if (oom.site().compiled != 0 || oom.limit_bytes() == 0 || served_bytes == 0 ||
      !ParseShape(oom.host().ShapeOf(oom.site()), &dims) || dims.empty() ||
      oom.requested_bytes() / kFarBeyondLimit < oom.limit_bytes() ||
      oom.requested_bytes() / kFarBeyondTensors < served_bytes) {
    return std::nullopt;
  }
  std::sort(dims.begin(), dims.end());
  const bool is_all_pairs =
      dims.size() == 2 && dims[0] == dims[1] && HasColumn(oom, dims[0]);
  const std::string shape = oom.host().ShapeOf(oom.site());
  const std::string line = DescribeSource(oom.host(), oom.site());
  Cause cause = MakeCause(
      kWrongShape, "CAPACITY", oom.requested_bytes(),
      absl::StrCat(
          "This shape looks wrong: ", shape, line.empty() ? "" : " at ", line,
          " is ", FormatBytes(oom.requested_bytes()), ", ",
          FormatCount(oom.requested_bytes() / oom.limit_bytes()),
          " times the limit, and no tensor before it had more than ",
          FormatBytes(served_bytes), ".",
          is_all_pairs ? absl::StrCat(" A tensor of [", dims.back(),
                                      "] beside one of [", dims.back(),
                                      ",1] is broadcast to all pairs of them.")
                       : std::string()));
  AddRelease(
      oom, {},
      {"check_shape", absl::StrCat("Look at the shapes that make ", shape, "."),
       "More memory or a smaller batch only hides it.",
       is_all_pairs ? "tf.squeeze(prediction, axis=-1)  # or "
                      "targets[:, tf.newaxis]"
                    : "print([each.shape for each in inputs])"},
      &cause);
  // As large as what was there already.
  cause.remedy->scenario = WithRestOfStep(oom, Scenario());
  cause.remedy->scenario->resized = [failure = oom.failure(), served_bytes](
                                        Row row, uint64_t bytes) {
    return row == failure ? served_bytes : bytes;
  };
  cause.remedy->is_estimate = true;
  return cause;
}

std::optional<Cause> FindKeptIterations(const OomCase& oom) {
  std::map<std::string, Loop> loops;
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    const std::string& op = oom.host().OpOf(oom.replay().SiteOf(row));
    if (IsGradientName(op) || !oom.IsOfThisStep(row)) continue;
    const std::optional<std::string> scope = LoopOf(op);
    if (!scope.has_value()) continue;
    Loop& loop = loops[*scope];
    loop.bytes += oom.replay().BytesOf(row);
    bytes += oom.replay().BytesOf(row);
    ++loop.kept_by_site[oom.replay().trace().site[row]];
  }
  if (loops.empty() || !IsShareOfUse(oom, bytes, kIterationsShare)) {
    return std::nullopt;
  }
  const auto& [scope, largest] = *std::max_element(
      loops.begin(), loops.end(), [](const auto& a, const auto& b) {
        return a.second.bytes < b.second.bytes;
      });
  const uint64_t iterations = IterationsOf(oom, largest);
  if (iterations == 0) return std::nullopt;
  return MakeCause(
      "kept_iterations", "CAPACITY", bytes,
      absl::StrCat(
          scope.empty() ? "A loop of the function"
                        : absl::StrCat("The loop of ", scope),
          " keeps ", FormatBytes(largest.bytes / iterations),
          " of each of its iterations, for the backward pass or for the "
          "loop's result, ",
          FormatBytes(largest.bytes), " of the ", FormatCount(iterations),
          " that were done",
          loops.size() > 1
              ? absl::StrCat("; all loops together keep ", FormatBytes(bytes))
              : std::string(),
          ". A shorter series, a smaller batch or fewer units reduce it."));
}

std::optional<Cause> FindLargeVariable(const OomCase& oom) {
  // Bytes are rounded up where the allocator did not split, so by request.
  std::map<uint64_t, std::vector<Row>> by_bytes;
  for (const Row row : oom.live()) {
    by_bytes[oom.replay().SiteOf(row).requested_bytes].push_back(row);
  }
  Copies copies;
  for (const auto& [bytes, rows] : by_bytes) {
    if (!IsShareOfUse(oom, bytes * rows.size(), kCopiesShare) ||
        !IsShareOfUse(oom, bytes, kCopyShare)) {
      continue;
    }
    Copies found = CountCopies(oom, bytes, rows);
    if (!found.slots.empty() && found.count() >= kMinCopies) {
      copies = std::move(found);
    }
  }
  if (copies.slots.empty()) return std::nullopt;
  const size_t count = copies.count();
  const bool is_refused = copies.of_one_bytes == oom.requested_bytes();
  const std::string what =
      copies.variables > 1
          ? absl::StrCat("There are ", copies.variables, " variables ",
                         copies.shape, ", and with what belongs to them ",
                         count, " tensors of their size")
          : absl::StrCat("The variable ", copies.shape, " is there ", count,
                         " times over");
  Cause cause = MakeCause(
      "large_variable", "CAPACITY",
      copies.of_one_bytes * (count - (is_refused ? 1 : 0)),
      absl::StrCat(
          what, is_refused ? ", with the request that was refused" : "", ": ",
          copies.variables > 1 ? "themselves" : "itself",
          ", the optimizer's slots",
          copies.gradients == 0       ? ""
          : copies.has_dense_gradient ? ", and its gradient made dense"
                                      : ", gradients",
          copies.others == 0 ? "" : ", copies and results of that size", ": ",
          count, " × ", FormatBytes(copies.of_one_bytes), "."));
  AddRelease(
      oom, copies.slots,
      {"smaller_optimizer",
       "Use an optimizer that keeps no slots for the large variable: SGD "
       "without momentum.",
       "Adam keeps two tensors of each variable's size, and makes the "
       "gradient of an embedding dense. SGD keeps none; Adafactor keeps "
       "a row and a column instead of a matrix.",
       "model.compile(optimizer=\"sgd\", ...)"},
      &cause);
  cause.remedy->remedy.mutable_values()->set_optimizer("sgd");
  return cause;
}

std::optional<Cause> FindReplicas(const OomCase& oom) {
  // A pool of a GPU's has one replica; those of the CPU share its pool.
  if (DeviceOrdinalOf(oom.replay().trace()) >= 0) return std::nullopt;
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    const std::string& op = oom.host().OpOf(oom.replay().SiteOf(row));
    if (!ReplicaOf(op).empty()) bytes += oom.replay().BytesOf(row);
  }
  if (bytes == 0 || !IsWorthIt(oom, bytes)) return std::nullopt;
  return MakeCause(
      "replicas", "CAPACITY", bytes,
      absl::StrCat(oom.replica_count(),
                   " replicas of the model take their memory from this one "
                   "pool; all but the first hold ",
                   FormatBytes(bytes),
                   ", and each has its own copy of the variables."));
}

std::optional<Cause> FindFirstStepRegions(const OomCase& oom) {
  // Steps had ended: what they needed the pool has.
  if (oom.layout().size() < 2 || oom.steps().spans().empty() ||
      oom.available_bytes() < oom.rounded_bytes() ||
      oom.short_by_bytes() == 0) {
    return std::nullopt;
  }
  const uint64_t served_bytes = LargestServed(oom);
  uint64_t largest_bytes = 0;
  for (const RegionLayout& region : oom.layout()) {
    largest_bytes = std::max(largest_bytes, region.size_bytes);
  }
  if (served_bytes >= oom.requested_bytes() ||
      largest_bytes >= oom.rounded_bytes()) {
    return std::nullopt;
  }
  Cause cause = MakeCause(
      "first_step_regions", kGrowthRegions, oom.free_bytes(),
      absl::StrCat("They are as large as the ",
                   CountOf(oom.steps().spans().size(), "step"),
                   " before needed, at most ", FormatBytes(largest_bytes),
                   ": no earlier request was larger than ",
                   FormatBytes(served_bytes),
                   ". This step is larger than the first one was."));
  AddRelease(oom, {},
             {"largest_first",
              "Run one step with the largest shapes first, so that the pool "
              "begins with pieces that are large enough.",
              "If lengths differ from batch to batch, run the longest first, "
              "or pad all batches to one length.",
              "model.train_on_batch(longest_x, longest_y)  # before fit()"},
             &cause);
  Scenario scenario;
  scenario.one_region = true;
  cause.remedy->scenario = WithRestOfStep(oom, std::move(scenario));
  // What the largest step takes beyond this request is not known.
  cause.remedy->is_estimate = true;
  return cause;
}

std::optional<Cause> FindBlockSlack(const OomCase& oom) {
  if (!oom.has_layout()) return std::nullopt;
  uint64_t slack_bytes = 0;
  uint64_t most_bytes = 0;
  Row most = kNoRow;
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    const uint64_t slack =
        site.allocated_bytes -
        std::min(site.allocated_bytes,
                 oom.replay().BytesToPlace(site.requested_bytes));
    slack_bytes += slack;
    if (slack > most_bytes) {
      most_bytes = slack;
      most = row;
    }
  }
  // It decides where the request would have fit but for it.
  if (most == kNoRow || oom.short_by_bytes() == 0 ||
      slack_bytes < oom.short_by_bytes() ||
      static_cast<double>(slack_bytes) <
          kSlackShare * static_cast<double>(oom.limit_bytes())) {
    return std::nullopt;
  }
  const AllocationSite& site = oom.replay().SiteOf(most);
  return MakeCause(
      kBlockSlack, "CAPACITY", slack_bytes,
      absl::StrCat(
          FormatBytes(slack_bytes),
          " of the memory in use is slack inside blocks, more than the "
          "request was short by: TensorFlow splits a block only where half of "
          "it, or 128 MiB, would be left, so that ",
          FormatBytes(site.requested_bytes), " of ",
          DescribeSite(oom.host(), site), " lie in a block of ",
          FormatBytes(site.allocated_bytes), "."));
}

}  // namespace oom_forensics
