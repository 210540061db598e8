// Models of earlier rounds: variables were made, steps were run with them, then
// variables of the very same shapes were made anew, and the first ones are
// still there.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_source.h"
#include "converter/forensics/keepers.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Smaller ones are counters and biases, and are made for many reasons.
constexpr uint64_t kMinBytes = 16384;
// Part of the memory in use that the older ones must hold.
constexpr double kOlderModelsShare = 0.2;

// Where a model begins that is like an earlier one, one for each model.
std::vector<Row> FindRounds(const OomCase& oom) {
  const std::vector<StepSpan>& steps = oom.steps().spans();
  using Kind = std::tuple<std::string, StringId, uint64_t>;
  // The step before which the last of a kind was made, by kind.
  std::map<Kind, int64_t> last;
  std::vector<Row> rows(oom.live());
  std::sort(rows.begin(), rows.end());
  // What a tape keeps is at work.
  const std::vector<Row> taped = RowsOnTape(oom.replay(), rows);
  std::vector<Row> rounds;
  int64_t round_step = -1;
  for (const Row row : rows) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    // A variable's first value is computed before it is used in any graph.
    if (ModeOf(oom.host(), site) == GRAPH || oom.IsOfThisStep(row) ||
        std::binary_search(taped.begin(), taped.end(), row) ||
        site.requested_bytes < kMinBytes || site.shape == kEmptyString) {
      continue;
    }
    const int64_t step = oom.steps().IndexOf(row);
    const Kind kind(std::string(OpTypeOf(oom.host().OpOf(site))), site.shape,
                    site.requested_bytes);
    const auto known = last.find(kind);
    if (rounds.empty()) {
      rounds.push_back(row);
      round_step = step;
    } else if (known != last.end() && step > known->second &&
               step > round_step) {
      rounds.push_back(row);
      round_step = step;
    }
    last[kind] = step;
  }
  if (steps.empty()) rounds.clear();
  return rounds;
}

}  // namespace

std::optional<Cause> FindOlderModels(const OomCase& oom) {
  // What grows step by step is a leak, not a model.
  if (!oom.leaks().empty()) return std::nullopt;
  const std::vector<Row> rounds = FindRounds(oom);
  if (rounds.size() < 2) return std::nullopt;
  absl::flat_hash_set<Row> older;
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    if (row < rounds.front() || row >= rounds.back()) continue;
    older.insert(row);
    bytes += oom.replay().BytesOf(row);
  }
  if (!IsShareOfUse(oom, bytes, kOlderModelsShare)) {
    return std::nullopt;
  }
  Cause cause;
  cause.name = kOlderModels;
  cause.kind = "RETAINED";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "Variables of the same shapes were made ", rounds.size(),
      " times, with steps in between, and those of the earlier ",
      rounds.size() == 2 ? std::string("round")
                         : absl::StrCat(rounds.size() - 1, " rounds"),
      " are still held: ", FormatBytes(bytes), " in ",
      CountOf(older.size(), "tensor"), ".");
  const std::vector<Row> kept(older.begin(), older.end());
  const std::string kept_by = KeptBySentence(oom.replay(), kept);
  if (!kept_by.empty()) absl::StrAppend(&cause.sentence, " ", kept_by);
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kReleaseModels);
  candidate.remedy.set_title(
      "Let no model of an earlier round stay: one process for each round, or "
      "one model for all.");
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " A model lives as long as a list, a dict or a History object refers to "
      "it: keep its score, or save it to a file. Of a model that was trained, "
      "TensorFlow 2.21 with Keras 3.15 keeps the memory even after del and "
      "keras.backend.clear_session()."));
  candidate.remedy.set_code(
      "multiprocessing.get_context(\"spawn\").Process(target=one_round)  "
      "# or model.set_weights(first_weights)");
  PointToSource(oom, kept, &candidate.remedy);
  candidate.scenario = WithoutRows(oom, std::move(older));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
