#include "converter/datasets/cached_timelines.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/counterfactual/counterfactual.h"
#include "converter/counterfactual/recorded_step.h"
#include "converter/counterfactual/refused_step.h"

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

// What an allocation of each site counts: blocks that are opened as far as
// their parts are kept.
std::vector<Usage> CountedBySite(const SelectedAllocator& allocator,
                                 const RowPredicate& keeps) {
  const SiteTable& sites = allocator.host->trace().sites;
  std::vector<Usage> by_site(sites.size());
  for (SiteId id = 0; id < sites.size(); ++id) {
    if (const std::vector<SitePart>* parts = keeps.OpenedParts(id)) {
      for (const SitePart& part : *parts) {
        if (keeps.KeepsPartOfSite(part)) {
          by_site[id].Add(UsageOf(sites.Get(part.site)));
        }
      }
    } else if (keeps.KeepsSite(id)) {
      by_site[id] = UsageOf(sites.Get(id));
    }
  }
  return by_site;
}

}  // namespace

std::shared_ptr<const UsageTimeline> FilteredUsage(
    const SelectedAllocator& allocator, const Filter& filter) {
  return allocator.host->cache().Get<UsageTimeline>(
      Name("usage", allocator, filter), [&] {
        const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
        return std::make_shared<const UsageTimeline>(
            allocator.replay, CountedBySite(allocator, keeps),
            keeps.by_site_only() ? UsageTimeline::RowFilter() : keeps);
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

BatchShares BatchSharesOf(const SelectedAllocator& allocator) {
  const AllocatorReplay& replay = *allocator.replay;
  std::shared_ptr<const ForecastTrace> forecast;
  if (!replay.failure_positions().empty()) {
    const Row failure = replay.failure_positions().front();
    const ForecastTrace* const graph = ForecastOf(replay, failure);
    if (graph != nullptr) {
      forecast = ForecastAsCompiled(replay, failure, *graph);
    }
  }
  return {replay.host(), forecast.get(), BatchOf(allocator)->batch};
}

}  // namespace oom_forensics
