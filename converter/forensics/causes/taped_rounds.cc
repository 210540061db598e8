// A loop under one gradient tape: it keeps what each round computed until the
// gradient of all of them is taken.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_source.h"
#include "converter/forensics/keepers.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Fewer rounds are layers of one kind.
constexpr size_t kMinRounds = 12;
// Part of the memory in use that the tape must keep.
constexpr double kTapeShare = 0.2;

}  // namespace

std::optional<Cause> FindTapedRounds(const OomCase& oom) {
  const std::vector<Row> rows = RowsOnTape(oom.replay(), oom.live());
  std::map<SiteId, size_t> rows_by_site;
  std::map<SiteId, uint64_t> bytes_by_site;
  uint64_t bytes = 0;
  for (const Row row : rows) {
    const SiteId site = oom.replay().trace().site[row];
    ++rows_by_site[site];
    bytes_by_site[site] += oom.replay().BytesOf(row);
    bytes += oom.replay().BytesOf(row);
  }
  if (!IsShareOfUse(oom, bytes, kTapeShare)) {
    return std::nullopt;
  }
  // What is made once in each round tells how many there were: that which holds
  // most.
  SiteId largest = 0;
  uint64_t most_bytes = 0;
  for (const auto& [site, held] : bytes_by_site) {
    if (held > most_bytes) {
      most_bytes = held;
      largest = site;
    }
  }
  const size_t rounds = rows_by_site[largest];
  if (rounds < kMinRounds) return std::nullopt;
  Cause cause;
  cause.name = "taped_rounds";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "A gradient tape keeps ", FormatBytes(bytes), " in ",
      CountOf(rows.size(), "tensor"),
      " until the gradient is taken: a loop runs under it, of which ",
      FormatCount(rounds), " outputs of ",
      DescribeSite(oom.host(), oom.host().sites.Get(largest)),
      " are there by now.");
  RemedyCandidate candidate;
  candidate.remedy.set_kind("shorter_tape");
  candidate.remedy.set_title(
      "Take the gradient of fewer rounds at a time: a tape for each part of "
      "the "
      "loop.");
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " Half as many rounds under a tape keep half of it; the gradients of the "
      "parts can be added up."));
  candidate.remedy.set_code(
      "with tf.GradientTape() as tape:  # for a part of the rounds\n"
      "    ...\n"
      "sums = [s + g for s, g in zip(sums, tape.gradient(loss, variables))]");
  PointToSource(oom, rows, &candidate.remedy);
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  candidate.scenario =
      WithoutRows(oom, absl::flat_hash_set<Row>(half, rows.end()));
  // How the program divides its loop is not in the trace.
  candidate.is_estimate = true;
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
