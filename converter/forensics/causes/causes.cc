#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/forensics/causes/remedy_candidate.h"

namespace oom_forensics {
namespace {

using Finder = std::optional<Cause> (*)(const OomCase&);

constexpr Finder kFinders[] = {
    FindWrongShape,     FindFailedAttempt,     FindOlderModels,
    FindLeak,           FindGrowingTensor,     FindCollection,
    FindKeptIterations, FindLargeVariable,     FindReplicas,
    FindHostData,       FindRetracing,         FindTapedRounds,
    FindPipelineBuffer, FindPrefetchedBatches, FindStepsInOneCall,
    FindBlockSlack,     FindFirstStepRegions,
};

// Two causes may explain the same tensors. The one that knows more about them
// is named, the other one hidden.
struct Precedence {
  const char* named;
  const char* hidden;
  // Only where the first is of this kind; null: of any.
  const char* kind = nullptr;
};

constexpr Precedence kPrecedences[] = {
    {"pipeline_buffer", "prefetched_batches"},
    {"steps_in_one_call", "prefetched_batches"},
    {"retracing", "leak"},
    {"pipeline_buffer", "leak", kLeakLike},
    {"growing_tensor", kCollection},
    {"failed_attempt", kCollection},
};

void Hide(std::vector<Cause>* causes) {
  const auto has = [causes](const Precedence& each) {
    return std::any_of(
        causes->begin(), causes->end(), [&each](const Cause& cause) {
          return cause.name == each.named &&
                 (each.kind == nullptr || cause.kind == each.kind);
        });
  };
  for (const Precedence& each : kPrecedences) {
    if (!has(each)) continue;
    causes->erase(std::remove_if(causes->begin(), causes->end(),
                                 [&](const Cause& cause) {
                                   return cause.name == each.hidden;
                                 }),
                  causes->end());
  }
}

}  // namespace

Cause MakeCause(const char* name, const char* kind, uint64_t bytes,
                std::string sentence) {
  Cause cause;
  cause.name = name;
  cause.kind = kind;
  cause.bytes = bytes;
  cause.sentence = std::move(sentence);
  return cause;
}

void AddRelease(const OomCase& oom, const std::vector<Row>& released,
                RemedyWords words, Cause* cause) {
  RemedyCandidate candidate;
  candidate.remedy.set_kind(words.kind);
  candidate.remedy.set_title(std::move(words.title));
  candidate.remedy.set_detail(
      words.detail.empty() ? cause->sentence
                           : absl::StrCat(cause->sentence, " ", words.detail));
  candidate.remedy.set_code(std::move(words.code));
  PointToSource(oom, released, &candidate.remedy);
  candidate.scenario = WithoutRows(
      oom, absl::flat_hash_set<Row>(released.begin(), released.end()));
  cause->remedy = std::move(candidate);
}

std::string AndKeptBy(const OomCase& oom, const std::vector<Row>& rows) {
  const std::string kept_by = oom.held().KeptBySentence(rows);
  return kept_by.empty() ? "" : absl::StrCat(" ", kept_by);
}

bool IsShareOfUse(const OomCase& oom, uint64_t bytes, double share) {
  return static_cast<double>(bytes) >=
         share * static_cast<double>(oom.usage().in_use_bytes);
}

uint64_t BytesOf(const OomCase& oom, const std::vector<Row>& rows) {
  uint64_t bytes = 0;
  for (const Row row : rows) bytes += oom.replay().BytesOf(row);
  return bytes;
}

SiteId LargestSite(const OomCase& oom, const std::vector<Row>& rows) {
  std::map<SiteId, uint64_t> bytes;
  for (const Row row : rows) {
    bytes[oom.replay().trace().site[row]] += oom.replay().BytesOf(row);
  }
  return std::max_element(
             bytes.begin(), bytes.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool IsModels(Role role) {
  return role == ROLE_VARIABLE || role == ROLE_OPTIMIZER;
}

size_t RunsOf(const OomCase& oom, const std::vector<Row>& rows) {
  absl::flat_hash_set<int64_t> runs;
  for (const Row row : rows) {
    runs.insert(oom.replay().trace().ContextOf(row).step_id);
  }
  return runs.size();
}

std::vector<Cause> FindCauses(const OomCase& oom) {
  std::vector<Cause> causes;
  for (const Finder find : kFinders) {
    std::optional<Cause> cause = find(oom);
    if (cause.has_value()) causes.push_back(*std::move(cause));
  }
  Hide(&causes);
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
  return causes;
}

}  // namespace oom_forensics
