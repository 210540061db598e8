// One variable, often the table of an embedding, that an optimizer multiplies.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// All copies together must be this part of what is in use.
constexpr double kCopiesShare = 0.5;
constexpr size_t kMinCopies = 3;
// Smaller ones are no large variable, however many are alike.
constexpr double kCopyShare = 0.1;

bool IsSlot(const OomCase& oom, Row row) {
  return oom.roles().RoleOf(row) == ROLE_OPTIMIZER;
}

}  // namespace

std::optional<Cause> FindLargeVariable(const OomCase& oom) {
  // Bytes are rounded up where the allocator did not split, so by request.
  std::map<uint64_t, std::vector<Row>> by_bytes;
  for (const Row row : oom.live()) {
    by_bytes[oom.replay().SiteOf(row).requested_bytes].push_back(row);
  }
  const std::vector<Row>* copies = nullptr;
  uint64_t of_one = 0;
  for (const auto& [bytes, rows] : by_bytes) {
    const size_t wanted = bytes == oom.requested_bytes() ? 1 : 0;
    const bool has_slot = std::any_of(
        rows.begin(), rows.end(), [&oom](Row row) { return IsSlot(oom, row); });
    if (has_slot && rows.size() + wanted >= kMinCopies &&
        IsShareOfUse(oom, bytes * rows.size(), kCopiesShare) &&
        IsShareOfUse(oom, bytes, kCopyShare)) {
      copies = &rows;
      of_one = bytes;
    }
  }
  if (copies == nullptr) return std::nullopt;
  std::string shape;
  absl::flat_hash_set<Row> slots;
  for (const Row row : *copies) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (shape.empty()) shape = oom.host().ShapeOf(site);
    if (IsSlot(oom, row)) slots.insert(row);
  }
  const size_t count =
      copies->size() + (of_one == oom.requested_bytes() ? 1 : 0);
  Cause cause;
  cause.name = "large_variable";
  cause.kind = "CAPACITY";
  cause.bytes = of_one * copies->size();
  cause.sentence = absl::StrCat(
      "The variable ", shape, " is there ", count, " times over",
      of_one == oom.requested_bytes() ? ", with the request that was refused"
                                      : "",
      ": itself, the optimizer's slots, and its gradient made dense: ", count,
      " × ", FormatBytes(of_one), ".");
  if (slots.empty()) return cause;
  RemedyCandidate candidate;
  candidate.remedy.set_kind("smaller_optimizer");
  candidate.remedy.set_title(
      "Use an optimizer that keeps no slots for the large variable: SGD "
      "without momentum.");
  candidate.remedy.set_detail(absl::StrCat(
      "Adam keeps two tensors of each variable's size, and makes the gradient "
      "of an embedding dense. SGD keeps none; Adafactor keeps a row and a "
      "column in place of a matrix. ",
      cause.sentence));
  candidate.remedy.set_code("model.compile(optimizer=\"sgd\", ...)");
  candidate.remedy.mutable_values()->set_optimizer("sgd");
  candidate.scenario = WithoutRows(oom, std::move(slots));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
