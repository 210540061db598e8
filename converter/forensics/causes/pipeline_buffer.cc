// Elements that an input pipeline keeps: shuffle() and cache() hold what the
// functions before them made.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_source.h"
#include "converter/forensics/keepers.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Fewer are what the pipeline is working on.
constexpr size_t kMinElements = 64;
// Part of the memory in use that the elements must hold.
constexpr double kElementsShare = 0.2;

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

// Null: the pipeline has none.
const Buffer* FindBuffer(const OomCase& oom, bool grows) {
  for (const Buffer& buffer : kBuffers) {
    if (grows && &buffer != &kCache) continue;
    for (const Row row : oom.live()) {
      if (absl::StrContains(oom.host().OpOf(oom.replay().SiteOf(row)),
                            buffer.op)) {
        return &buffer;
      }
    }
  }
  return nullptr;
}

// The live rows of the site that holds most, of those that were made one by
// one: each in a run of its own of a function of the pipeline.
std::vector<Row> Elements(const OomCase& oom) {
  std::map<SiteId, std::vector<Row>> rows_by_site;
  for (const Row row : oom.live()) {
    rows_by_site[oom.replay().trace().site[row]].push_back(row);
  }
  std::vector<Row> most;
  uint64_t most_bytes = 0;
  for (const auto& [site, rows] : rows_by_site) {
    absl::flat_hash_set<int64_t> runs;
    uint64_t bytes = 0;
    for (const Row row : rows) {
      runs.insert(oom.replay().trace().ContextOf(row).step_id);
      bytes += oom.replay().BytesOf(row);
    }
    if (runs.size() < kMinElements || 2 * runs.size() < rows.size() ||
        bytes <= most_bytes) {
      continue;
    }
    most = rows;
    most_bytes = bytes;
  }
  return most;
}

// Whether the elements grow in number from step to step, and no object of the
// program keeps them: a cache does that until it has all of the data set. What
// a program keeps of its steps was made one by one, too.
bool AreCached(const OomCase& oom, const std::vector<Row>& elements) {
  if (elements.empty() || oom.host().source.keepers().empty()) return false;
  const SiteId site = oom.replay().trace().site[elements.front()];
  const FoundLeak& leak = oom.leaks().front();
  return leak.kind == FoundLeak::Kind::kGrowth &&
         oom.replay().trace().site[leak.rows.front()] == site &&
         KeepersOf(oom.replay(), elements).empty();
}

}  // namespace

std::optional<Cause> FindPipelineBuffer(const OomCase& oom) {
  const bool grows = !oom.leaks().empty();
  const Buffer* const buffer = FindBuffer(oom, grows);
  if (buffer == nullptr) return std::nullopt;
  const std::vector<Row> elements = Elements(oom);
  if (grows && !AreCached(oom, elements)) return std::nullopt;
  uint64_t bytes = 0;
  for (const Row row : elements) bytes += oom.replay().BytesOf(row);
  if (elements.empty() || !IsShareOfUse(oom, bytes, kElementsShare)) {
    return std::nullopt;
  }
  Cause cause;
  cause.name = kPipelineBuffer;
  cause.kind = grows ? "LEAK_LIKE" : "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      buffer->name,
      " of the input pipeline keeps elements: ", FormatCount(elements.size()),
      " outputs of ",
      DescribeSite(oom.host(), oom.replay().SiteOf(elements.front())), ", ",
      FormatBytes(bytes), ", one from each run of its function.",
      grows ? " It goes on until all of the data set is there." : "");
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kSmallerPipelineBuffer);
  candidate.remedy.set_title(buffer->title);
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " Numbers or file names take next to nothing; a buffer behind the "
      "function that decodes them holds whole tensors."));
  candidate.remedy.set_code(buffer->code);
  PointToSource(oom, elements, &candidate.remedy);
  candidate.scenario = WithoutRows(
      oom, absl::flat_hash_set<Row>(elements.begin(), elements.end()));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
