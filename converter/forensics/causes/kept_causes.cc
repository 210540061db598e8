// What is kept of earlier rounds, of an earlier attempt, and by a tape.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/forensics/oom_case/incidents.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Part of the memory in use that what is kept must hold.
constexpr double kKeptShare = 0.2;
constexpr double kAttemptShare = 0.1;
// Fewer outputs of one op under a tape are layers of one kind.
constexpr size_t kMinRounds = 12;
// An object of fewer items is no collection of rounds.
constexpr size_t kMinItems = 3;
// Smaller variables are counters and biases, and are made for many reasons.
constexpr uint64_t kMinVariableBytes = 16384;
// Ops at the beginning of two attempts that must be the same.
constexpr size_t kSameOps = 3;
constexpr size_t kMinSameOps = 2;

// Whether the row may be the value of a variable that was made for a model:
// Python says so, or nothing that it told of keeps it. Where it told of
// nothing, the first value of a variable is computed before any graph uses it.
bool MayBeVariable(const OomCase& oom, Row row) {
  const AllocationSite& site = oom.replay().SiteOf(row);
  if (ModeOf(oom.host(), site) == GRAPH || oom.IsOfThisStep(row) ||
      site.requested_bytes < kMinVariableBytes || oom.held().IsOnTape(row)) {
    return false;
  }
  return oom.held().IsVariable(row) ||
         (!oom.held().IsKept(row) && site.shape != kEmptyString);
}

// Where a model begins that is like an earlier one, one row for each model.
std::vector<Row> FindRounds(const OomCase& oom) {
  if (oom.steps().spans().empty()) return {};
  using Kind = std::tuple<std::string, StringId, uint64_t>;
  // The step before which the last of a kind was made, by kind.
  std::map<Kind, int64_t> last;
  std::vector<Row> rows(oom.live());
  std::sort(rows.begin(), rows.end());
  std::vector<Row> rounds;
  int64_t round_step = -1;
  for (const Row row : rows) {
    if (!MayBeVariable(oom, row)) continue;
    const AllocationSite& site = oom.replay().SiteOf(row);
    const int64_t step = oom.steps().IndexOf(row);
    const Kind kind(std::string(OpTypeOf(oom.host().OpOf(site))), site.shape,
                    site.requested_bytes);
    const auto known = last.find(kind);
    const bool is_again =
        known != last.end() && step > known->second && step > round_step;
    if (rounds.empty() || is_again) {
      rounds.push_back(row);
      round_step = step;
    }
    last[kind] = step;
  }
  return rounds;
}

// The rows made from the first round up to the last that the program does not
// hold by a name of each round's own. A list or a dict holds them, one object
// holds those of several rounds, or nobody does. A row made after the first
// collected one is on its way there, whatever name it has until then.
std::vector<Row> RowsOfOlderRounds(const OomCase& oom,
                                   const std::vector<Row>& rounds) {
  absl::flat_hash_map<const Container*, std::set<std::ptrdiff_t>> rounds_of;
  Row first_collected = kNoRow;
  for (const Row row : oom.live()) {
    if (row < rounds.front()) continue;
    const Container* const container = oom.held().ContainerOf(row);
    rounds_of[container].insert(
        std::upper_bound(rounds.begin(), rounds.end(), row) - rounds.begin());
    if (container != nullptr && container->is_root) {
      first_collected = std::min(first_collected, row);
    }
  }
  std::vector<Row> rows;
  for (const Row row : oom.live()) {
    if (row < rounds.front() || row >= rounds.back()) continue;
    const Container* const container = oom.held().ContainerOf(row);
    const bool is_of_many =
        container != nullptr && rounds_of[container].size() > 1;
    if (row >= first_collected || is_of_many || !oom.held().IsKept(row)) {
      rows.push_back(row);
    }
  }
  return rows;
}

// The object of the program that holds variables which were made at kMinItems
// or more times, with steps in between: a dict of all models that were tried,
// whatever their shapes. Null: there is none.
const Container* ContainerOfRounds(const OomCase& oom) {
  for (const Container& container : oom.held().containers()) {
    if (!container.holds_variables || container.is_of_library ||
        container.items < kMinItems ||
        !IsShareOfUse(oom, container.bytes, kKeptShare)) {
      continue;
    }
    std::set<int64_t> made_at;
    for (const Row row : container.rows) {
      if (oom.held().IsVariable(row) &&
          oom.replay().BytesOf(row) >= kMinVariableBytes) {
        made_at.insert(oom.steps().IndexOf(row));
      }
    }
    if (made_at.size() >= kMinItems) return &container;
  }
  return nullptr;
}

// Whether what keeps most of the rows is an optimizer that the program holds by
// itself: its slots follow in the chain, and no model comes before it.
bool AreOptimizers(const OomCase& oom, const std::vector<Row>& rows) {
  uint64_t bytes = 0;
  for (const FoundKeeper& keeper : oom.held().KeepersOf(rows)) {
    const std::vector<std::string>& chain = keeper.recorded->chain;
    const auto slots =
        std::find_if(chain.begin(), chain.end(), [](const std::string& link) {
          return absl::StrContains(link, "'_momentums'") ||
                 absl::StrContains(link, "'_velocities'") ||
                 absl::StrContains(link, "'_accumulators'");
        });
    // A model has its optimizer as an attribute, by name.
    if (slots != chain.end() && slots != chain.begin() &&
        !absl::StrContains(*(slots - 1), '\'')) {
      bytes += keeper.bytes;
    }
  }
  return 2 * bytes > BytesOf(oom, rows);
}

// Where the attempt that ended in `earlier` begins: the second one does what
// the first one did, in other sizes. kNoRow: it cannot be told.
Row AttemptBefore(const OomCase& oom, Row earlier) {
  const AllocatorTrace& trace = oom.replay().trace();
  const auto op_of = [&](Row row) { return oom.replay().SiteOf(row).op; };
  const auto is_request = [&trace](Row row) {
    return trace.kind_of[row] == RowKind::kAlloc ||
           trace.kind_of[row] == RowKind::kFailed;
  };
  std::vector<StringId> ops;
  for (Row row = earlier + 1; row <= oom.failure() && ops.size() < kSameOps;
       ++row) {
    if (is_request(row)) ops.push_back(op_of(row));
  }
  // One op alone is in both attempts many times.
  if (ops.size() < kMinSameOps) return kNoRow;
  std::vector<Row> rows;
  for (Row row = trace.baseline_rows; row <= earlier; ++row) {
    if (is_request(row)) rows.push_back(row);
  }
  for (size_t i = rows.size() + 1; i-- > ops.size();) {
    bool same = true;
    for (size_t k = 0; k < ops.size() && same; ++k) {
      same = op_of(rows[i - ops.size() + k]) == ops[k];
    }
    if (same) return rows[i - ops.size()];
  }
  return kNoRow;
}

}  // namespace

std::optional<Cause> FindOlderModels(const OomCase& oom) {
  const std::vector<Row> rounds = FindRounds(oom);
  std::vector<Row> older;
  if (rounds.size() >= 2) older = RowsOfOlderRounds(oom, rounds);
  std::string made;
  if (!older.empty() && IsShareOfUse(oom, BytesOf(oom, older), kKeptShare)) {
    made = absl::StrCat(
        "Variables of the same shapes were made ", rounds.size(),
        " times, with steps in between, and those of the earlier ",
        rounds.size() == 2 ? std::string("round")
                           : absl::StrCat(rounds.size() - 1, " rounds"));
  } else if (const Container* const container = ContainerOfRounds(oom)) {
    older = container->rows;
    made = "Variables were made again and again, with steps in between, and";
  } else {
    return std::nullopt;
  }
  const uint64_t bytes = BytesOf(oom, older);
  Cause cause =
      MakeCause("older_models", kRetained, bytes,
                absl::StrCat(made, " are still held: ", FormatBytes(bytes),
                             " in ", CountOf(older.size(), "tensor"), ".",
                             AndKeptBy(oom, older)));
  cause.growth.sentence =
      "The next round would keep the same amount again: this only delays the "
      "failure.";
  AddRelease(
      oom, older,
      {kReleaseModels,
       AreOptimizers(oom, older)
           ? "Do not keep the optimizers of earlier rounds: keep their scores, "
             "or use one optimizer for all."
           : "Do not keep the models of earlier rounds: use one process for "
             "each round, or one model for all.",
       "A model lives as long as a list, a dict or a History object refers to "
       "it, or to its optimizer: keep its score, or save it to a file. "
       "TensorFlow 2.21 with Keras 3.15 keeps the memory of a trained model "
       "even after del and keras.backend.clear_session().",
       "multiprocessing.get_context(\"spawn\").Process(target=one_round)  "
       "# or model.set_weights(first_weights)"},
      &cause);
  return cause;
}

std::optional<Cause> FindFailedAttempt(const OomCase& oom) {
  const Row earlier = EndOfEarlierIncident(oom.replay(), oom.failure());
  if (earlier == kNoRow) return std::nullopt;
  const Row begin = AttemptBefore(oom, earlier);
  if (begin == kNoRow) return std::nullopt;
  std::vector<Row> rows;
  for (const Row row : oom.live()) {
    if (row >= begin && row <= earlier && !IsModels(oom.roles().RoleOf(row))) {
      rows.push_back(row);
    }
  }
  const uint64_t bytes = BytesOf(oom, rows);
  if (rows.empty() || !IsShareOfUse(oom, bytes, kAttemptShare)) {
    return std::nullopt;
  }
  Cause cause = MakeCause(
      "failed_attempt", kRetained, bytes,
      absl::StrCat(
          "An earlier attempt ran out of memory, and ", FormatBytes(bytes),
          " in ", CountOf(rows.size(), "tensor"),
          " that it had made are still held, usually by its exception, which "
          "refers to the stack frames and so to the tensors.",
          AndKeptBy(oom, rows)));
  AddRelease(oom, rows,
             {"release_exception",
              "Drop the exception of the earlier attempt before the next one.",
              "Keep str(error) instead of the error; in a notebook, clear "
              "sys.last_value and sys.last_traceback.",
              "except tf.errors.ResourceExhaustedError as error:\n"
              "    failed = str(error)"},
             &cause);
  return cause;
}

std::optional<Cause> FindTapedRounds(const OomCase& oom) {
  const std::vector<Row> rows = oom.held().OnTape();
  const uint64_t bytes = BytesOf(oom, rows);
  if (rows.empty() || !IsShareOfUse(oom, bytes, kKeptShare)) {
    return std::nullopt;
  }
  // What is made once in each round tells how many there were: that which holds
  // most.
  const SiteId largest = LargestSite(oom, rows);
  const auto rounds =
      static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&](Row row) {
        return oom.replay().trace().site[row] == largest;
      }));
  // Layers have variables of their own; rounds share them.
  std::map<uint64_t, size_t> variables_alike;
  size_t layers = 0;
  for (const Row row : oom.live()) {
    if (!oom.held().IsVariable(row)) continue;
    layers = std::max(
        layers, ++variables_alike[oom.replay().SiteOf(row).requested_bytes]);
  }
  if (rounds < kMinRounds || layers >= rounds) return std::nullopt;
  Cause cause = MakeCause(
      "taped_rounds", "CAPACITY", bytes,
      absl::StrCat("A gradient tape keeps ", FormatBytes(bytes), " in ",
                   CountOf(rows.size(), "tensor"),
                   " until the gradient is taken: a loop runs under it, and ",
                   FormatCount(rounds), " outputs of ",
                   DescribeSite(oom.host(), oom.host().sites.Get(largest)),
                   " are live by now."));
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  AddRelease(
      oom, {half, rows.end()},
      {"shorter_tape",
       "Take the gradient of fewer rounds at a time: a tape for each part of "
       "the loop.",
       "Half as many rounds under a tape keep half as much, and the gradients "
       "of the parts can be added up.",
       "with tf.GradientTape() as tape:  # for a part of the rounds\n"
       "    ...\n"
       "sums = [s + g for s, g in zip(sums, tape.gradient(loss, variables))]"},
      &cause);
  // How the program divides its loop is not in the trace.
  cause.remedy->is_estimate = true;
  return cause;
}

}  // namespace oom_forensics
