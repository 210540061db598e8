#include "converter/datasets/cached_timelines.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/recorded_shapes.h"

namespace oom_forensics {
namespace {

// Names what depends on an allocator and a filter. The range of time and steps
// does not matter: it is looked at only when the timeline is asked.
std::string Name(const std::string& type, const SelectedAllocator& allocator,
                 Filter filter) {
  filter.clear_from_ns();
  filter.clear_to_ns();
  filter.clear_from_step();
  filter.clear_to_step();
  filter.clear_host();
  filter.clear_allocator();
  return absl::StrCat(type, " ", allocator.ref.allocator, " ",
                      filter.SerializeAsString());
}

// Blocks that are opened count as far as their parts are kept.
absl::flat_hash_map<SiteId, Usage> PartlyCounted(
    const SelectedAllocator& allocator, const RowPredicate& keeps) {
  absl::flat_hash_map<SiteId, Usage> counted;
  const HostTrace& host = allocator.host->trace();
  for (const auto& [site, parts] : host.block_parts) {
    if (keeps.OpenedParts(site) == nullptr) continue;
    Usage& usage = counted[site];
    for (const SitePart& part : parts) {
      if (!keeps.KeepsPartOfSite(part)) continue;
      usage.in_use_bytes += host.sites.Get(part.site).allocated_bytes;
      usage.requested_bytes += host.sites.Get(part.site).requested_bytes;
      ++usage.live_count;
    }
  }
  return counted;
}

}  // namespace

std::shared_ptr<const UsageTimeline> FilteredUsage(
    const SelectedAllocator& allocator, const Filter& filter) {
  return allocator.host->cache().Get<UsageTimeline>(
      Name("usage", allocator, filter), [&] {
        const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
        return std::make_shared<const UsageTimeline>(
            allocator.replay, keeps, PartlyCounted(allocator, keeps));
      });
}

std::shared_ptr<const GroupTimeline> GroupsOverTime(
    const SelectedAllocator& allocator, const Filter& filter,
    GroupBy group_by) {
  const std::string type = absl::StrCat("groups ", static_cast<int>(group_by));
  return allocator.host->cache().Get<GroupTimeline>(
      Name(type, allocator, filter), [&] {
        const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
        return std::make_shared<const GroupTimeline>(allocator, keeps,
                                                     group_by);
      });
}

std::shared_ptr<const HoleTimeline> HolesOverTime(
    const SelectedAllocator& allocator, uint64_t request_bytes) {
  const std::string type = absl::StrCat("holes ", RoundedBytes(request_bytes));
  return allocator.host->cache().Get<HoleTimeline>(
      Name(type, allocator, Filter()), [&] {
        return std::make_shared<const HoleTimeline>(*allocator.replay,
                                                    request_bytes);
      });
}

std::shared_ptr<const LeakSearchResult> LeaksAt(
    const SelectedAllocator& allocator, Position position) {
  return allocator.host->cache().Get<LeakSearchResult>(
      Name(absl::StrCat("leaks ", position), allocator, Filter()), [&] {
        return std::make_shared<const LeakSearchResult>(
            FindLeaks(*allocator.replay, position));
      });
}

std::shared_ptr<const ServingOrder> OrderOf(
    const SelectedAllocator& allocator) {
  if (!allocator.replay->trace().has_layout) return nullptr;
  return allocator.host->cache().Get<ServingOrder>(
      Name("order", allocator, Filter()), [&] {
        return std::make_shared<const ServingOrder>(FindServingOrder(
            *allocator.replay, allocator.replay->trace().baseline_rows,
            allocator.replay->trace().row_count()));
      });
}

std::shared_ptr<const Simulation> SimulationOf(
    const SelectedAllocator& allocator, const ServingOrder& order,
    const BfcSettings& settings, const PoolSimulator::Range& range) {
  const std::string type = absl::StrCat("simulation ", settings.limit_bytes,
                                        " ", range.from, " ", range.to);
  return allocator.host->cache().Get<Simulation>(
      Name(type, allocator, Filter()), [&] {
        return std::make_shared<const Simulation>(
            PoolSimulator(*allocator.replay, order, settings).Run({}, range));
      });
}

Position DecisivePosition(const AllocatorReplay& replay) {
  const std::vector<Position>& failures = replay.failure_positions();
  return failures.empty() ? replay.peak_position() : failures.front();
}

std::shared_ptr<const FoundBatch> BatchOf(const SelectedAllocator& allocator) {
  return allocator.host->cache().Get<FoundBatch>(
      Name("batch", allocator, Filter()), [&] {
        const AllocatorReplay& replay = *allocator.replay;
        const Position position = DecisivePosition(replay);
        return std::make_shared<const FoundBatch>(
            FoundBatch{RecordedBatch(replay, allocator.host->Roles(replay),
                                     replay.LiveAt(position), position)});
      });
}

}  // namespace oom_forensics
