#include "converter/exports/perfetto/allocation_slices.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/group_key.h"
#include "converter/text/enum_ids.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// A life, cut to the range.
struct Life {
  AllocationPart part;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  double byte_ns = 0;

  std::pair<Row, int32_t> number() const { return {part.row, part.index}; }
};

// All lives that the filter keeps, in order of birth.
std::vector<Life> LivesIn(const SelectedAllocator& allocator,
                          const Filter& filter, const NsRange& range) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
  std::vector<Life> lives;
  for (Row row = 0; row < replay.trace().row_count(); ++row) {
    if (replay.trace().kind_of[row] != RowKind::kAlloc) continue;
    const int64_t born_ns = host.ToNs(replay.BornPs(row));
    const int64_t died_ns = host.ToNs(replay.DiedPs(row));
    if (born_ns >= range.to_ns || died_ns < range.from_ns) continue;
    keeps.ForEachPart(row, [&](const AllocationPart& part) {
      Life life{part, std::max(born_ns, range.from_ns),
                std::min(died_ns, range.to_ns)};
      life.byte_ns =
          static_cast<double>(host.sites.Get(part.site).allocated_bytes) *
          static_cast<double>(life.end_ns - life.begin_ns + 1);
      lives.push_back(life);
    });
  }
  std::stable_sort(
      lives.begin(), lives.end(),
      [](const Life& a, const Life& b) { return a.begin_ns < b.begin_ns; });
  return lives;
}

void KeepLargest(uint32_t limit, std::vector<Life>* lives) {
  if (lives->size() <= limit) return;
  const auto end = lives->begin() + limit;
  std::nth_element(lives->begin(), end, lives->end(),
                   [](const Life& a, const Life& b) {
                     return std::pair(a.byte_ns, b.number()) >
                            std::pair(b.byte_ns, a.number());
                   });
  lives->erase(end, lives->end());
  std::sort(lives->begin(), lives->end(), [](const Life& a, const Life& b) {
    return std::pair(a.begin_ns, a.number()) <
           std::pair(b.begin_ns, b.number());
  });
}

void AddLife(const SelectedAllocator& allocator, const Life& life, Role role,
             TrackId track, TrackEventWriter* writer) {
  const Allocation allocation = MakePart(allocator, life.part);
  const HostTrace& host = allocator.host->trace();
  const std::string& shape = host.ShapeOf(host.sites.Get(life.part.site));
  const std::string& op = allocation.op_name();
  const std::string role_id = RoleId(role);
  TrackEventArgs args = {
      {"requested_bytes", allocation.requested_bytes()},
      {"allocated_bytes", allocation.allocated_bytes()},
      {"address", TrackEventArg::Pointer{allocation.address()}},
      {"op", std::string_view(op)},
      {"shape", std::string_view(shape)},
      {"dtype", std::string_view(allocation.dtype())},
      {"thread", allocation.thread()},
      {"baseline", allocation.baseline()},
      // Its number in the allocations dataset.
      {"allocation_id", allocation.id()},
  };
  if (allocation.step() != kUnknownStep) {
    args.push_back({"step", allocation.step()});
  }
  if (role != ROLE_UNKNOWN) {
    args.push_back({"role", std::string_view(role_id)});
  }
  if (allocation.died_ns() == 0) args.push_back({"live_at_end", true});
  const std::string_view name = LayerPath(op);
  writer->AddSlice(track, life.begin_ns, life.end_ns,
                   name.empty() ? "(no op recorded)" : name, args);
}

std::string TrackName(size_t shown, size_t all) {
  if (shown == all) return "Allocations";
  return absl::StrCat("Allocations (", shown, " of ", all,
                      ", those of most bytes × time)");
}

}  // namespace

void AddAllocationSlices(const SelectedAllocator& allocator,
                         const Filter& filter, const NsRange& range,
                         uint32_t limit, TrackId parent,
                         TrackEventWriter* writer) {
  std::vector<Life> lives = LivesIn(allocator, filter, range);
  const size_t all = lives.size();
  KeepLargest(limit, &lives);
  const std::string name = TrackName(lives.size(), all);
  // Slices of a track may not overlap, so each goes to the track that has been
  // free for longest, or to a new one. Of one name, they are shown as one.
  using FreeSince = std::pair<int64_t, TrackId>;
  std::priority_queue<FreeSince, std::vector<FreeSince>, std::greater<>> tracks;
  for (const Life& life : lives) {
    TrackId track = kNoTrack;
    if (!tracks.empty() && tracks.top().first <= life.begin_ns) {
      track = tracks.top().second;
      tracks.pop();
    } else {
      track = writer->AddTrack(parent, name, "From birth to death.");
    }
    AddLife(allocator, life, RoleOf(allocator, life.part), track, writer);
    tracks.emplace(life.end_ns, track);
  }
}

}  // namespace oom_forensics
