// What an earlier attempt made: a program caught its out-of-memory and tried
// something smaller, while the exception still holds the frames, and they the
// tensors, of the attempt that failed.
//
// Where the attempts begin is found by their ops: the second one does what the
// first one did, in other sizes.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_source.h"
#include "converter/forensics/keepers.h"
#include "converter/forensics/oom_case/incidents.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Ops at the beginning of the attempts that must be the same.
constexpr size_t kSameOps = 3;
constexpr size_t kMinSameOps = 2;
constexpr double kAttemptShare = 0.1;

// Where the attempt that ended in `earlier` begins; kNoRow: it cannot be told.
Row AttemptBefore(const OomCase& oom, Row earlier) {
  const AllocatorTrace& trace = oom.replay().trace();
  const auto op_of = [&](Row row) { return oom.replay().SiteOf(row).op; };
  std::vector<StringId> ops;
  for (Row row = earlier + 1; row <= oom.failure() && ops.size() < kSameOps;
       ++row) {
    if (trace.kind_of[row] == RowKind::kAlloc ||
        trace.kind_of[row] == RowKind::kFailed) {
      ops.push_back(op_of(row));
    }
  }
  // One op alone is in both attempts many times.
  if (ops.size() < kMinSameOps) return kNoRow;
  std::vector<Row> rows;
  for (Row row = trace.baseline_rows; row <= earlier; ++row) {
    if (trace.kind_of[row] == RowKind::kAlloc ||
        trace.kind_of[row] == RowKind::kFailed) {
      rows.push_back(row);
    }
  }
  if (rows.size() < ops.size()) return kNoRow;
  for (size_t i = rows.size() - ops.size() + 1; i-- > 0;) {
    bool same = true;
    for (size_t k = 0; k < ops.size() && same; ++k) {
      same = op_of(rows[i + k]) == ops[k];
    }
    if (same) return rows[i];
  }
  return kNoRow;
}

}  // namespace

std::optional<Cause> FindFailedAttempt(const OomCase& oom) {
  const Row earlier = EndOfEarlierIncident(oom.replay(), oom.failure());
  if (earlier == kNoRow) return std::nullopt;
  const Row begin = AttemptBefore(oom, earlier);
  if (begin == kNoRow) return std::nullopt;
  absl::flat_hash_set<Row> rows;
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    const Role role = oom.roles().RoleOf(row);
    if (row < begin || row > earlier || role == ROLE_VARIABLE ||
        role == ROLE_OPTIMIZER) {
      continue;
    }
    rows.insert(row);
    bytes += oom.replay().BytesOf(row);
  }
  if (!IsShareOfUse(oom, bytes, kAttemptShare)) {
    return std::nullopt;
  }
  Cause cause;
  cause.name = "failed_attempt";
  cause.kind = "RETAINED";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "An earlier attempt ran out of memory, and ", FormatBytes(bytes), " in ",
      CountOf(rows.size(), "tensor"),
      " that it had made are still held, by its exception as a rule: that "
      "refers to the frames, and they to the tensors.");
  const std::vector<Row> kept(rows.begin(), rows.end());
  const std::string kept_by = KeptBySentence(oom.replay(), kept);
  if (!kept_by.empty()) absl::StrAppend(&cause.sentence, " ", kept_by);
  RemedyCandidate candidate;
  candidate.remedy.set_kind("release_exception");
  candidate.remedy.set_title(
      "Let go of the exception of the earlier attempt before the next one.");
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " Keep str(error) in place of the error; in a notebook, clear "
      "sys.last_value and sys.last_traceback."));
  candidate.remedy.set_code(
      "except tf.errors.ResourceExhaustedError as error:\n"
      "    failed = str(error)");
  PointToSource(oom, kept, &candidate.remedy);
  candidate.scenario = WithoutRows(oom, std::move(rows));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
