#include "converter/datasets/allocation_life.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/forensics/source_frames.h"

namespace oom_forensics {
namespace {

// How many neighbours before and after are listed.
constexpr int kNeighbours = 10;

bool Overlaps(const AllocatorReplay& replay, Row a, Row b) {
  const uint64_t first_a = replay.trace().address[a];
  const uint64_t first_b = replay.trace().address[b];
  const uint64_t last_a = first_a + (replay.BytesOf(a) - 1);
  const uint64_t last_b = first_b + (replay.BytesOf(b) - 1);
  return first_a <= last_b && first_b <= last_a;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerAllocationLife(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  if (selected->refs().size() != 1) {
    return absl::InvalidArgumentError(
        "An allocation is named by its number in one allocator: say which with "
        "--host and --allocator.");
  }
  const SelectedAllocator allocator =
      LoadAllocator(input.run, selected->refs().front());
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const Row alloc = trace.RowOf(query.allocation_id());
  if (alloc == kNoRow || trace.kind_of[alloc] != RowKind::kAlloc) {
    return absl::NotFoundError(absl::StrCat("There is no allocation ",
                                            query.allocation_id(), " of ",
                                            trace.name, "."));
  }
  auto answer = std::make_unique<AllocationLife>();
  *answer->mutable_allocation() = MakeAllocation(allocator, alloc);
  SourceLocation source;
  if (FillSourceLocation(replay.host(), replay.SiteOf(alloc), Frames::kAll,
                         &source)) {
    *answer->mutable_allocation()->mutable_source() = std::move(source);
  }
  for (Row row = alloc; row-- > 0 && answer->before_size() < kNeighbours;) {
    if (trace.kind_of[row] == RowKind::kAlloc && Overlaps(replay, row, alloc)) {
      *answer->add_before() = MakeAllocation(allocator, row);
    }
  }
  for (Row row = alloc + 1;
       row < trace.row_count() && answer->after_size() < kNeighbours; ++row) {
    if (trace.kind_of[row] == RowKind::kAlloc && Overlaps(replay, row, alloc)) {
      *answer->add_after() = MakeAllocation(allocator, row);
    }
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
