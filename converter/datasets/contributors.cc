#include "converter/datasets/contributors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/datasets/group_key.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kMaxContributors = 20;
constexpr char kOthers[] = "(others)";

// The group of each site, as an index into keys.
struct SiteGroups {
  std::vector<uint32_t> group_of_site;
  std::vector<std::string> keys;
};

SiteGroups GroupSites(const HostTrace& host, GroupBy group_by) {
  SiteGroups groups;
  absl::flat_hash_map<std::string, uint32_t> index;
  for (SiteId site = 0; site < host.sites.size(); ++site) {
    std::string key = SiteGroupKey(host, host.sites.Get(site), group_by);
    const auto [entry, inserted] =
        index.try_emplace(std::move(key), groups.keys.size());
    if (inserted) groups.keys.push_back(entry->first);
    groups.group_of_site.push_back(entry->second);
  }
  return groups;
}

// Bytes by group, moved from one position to later ones.
class GroupBytes {
 public:
  GroupBytes(const AllocatorReplay& replay, const RowPredicate& keeps,
             const std::vector<uint32_t>& group_of_site, size_t group_count)
      : replay_(replay),
        keeps_(keeps),
        group_of_site_(group_of_site),
        bytes_(group_count) {}

  void StartAt(Position position) {
    std::fill(bytes_.begin(), bytes_.end(), 0);
    for (const Row row : replay_.LiveAt(position)) Count(row, 1);
    position_ = position;
  }

  void MoveTo(Position position) {
    const AllocatorTrace& trace = replay_.trace();
    for (; position_ < position; ++position_) {
      if (trace.kind_of[position_] == RowKind::kAlloc) {
        // One whose free is missing gives its place to this one.
        const auto& replaced = replay_.replacements();
        auto found = std::lower_bound(replaced.begin(), replaced.end(),
                                      std::pair<Row, Row>(position_, 0));
        for (; found != replaced.end() && found->first == position_; ++found) {
          Count(found->second, -1);
        }
        Count(position_, 1);
      } else if (trace.kind_of[position_] == RowKind::kFree &&
                 replay_.PartnerOf(position_) != kNoRow) {
        Count(replay_.PartnerOf(position_), -1);
      }
    }
  }

  const std::vector<int64_t>& bytes() const { return bytes_; }

 private:
  void Count(Row alloc, int64_t sign) {
    if (!keeps_(alloc)) return;
    bytes_[group_of_site_[replay_.trace().site[alloc]]] +=
        sign * static_cast<int64_t>(replay_.BytesOf(alloc));
  }

  const AllocatorReplay& replay_;
  const RowPredicate& keeps_;
  const std::vector<uint32_t>& group_of_site_;
  std::vector<int64_t> bytes_;
  Position position_ = 0;
};

}  // namespace

void AddContributors(const AllocatorReplay& replay, const RowPredicate& keeps,
                     const Query& query, const std::vector<Position>& positions,
                     TimelineSeries* series) {
  const uint32_t top = std::min(query.top(), kMaxContributors);
  if (top == 0 || positions.empty()) return;
  const GroupBy group_by =
      query.group_by() == GROUP_NONE || !IsGroupOfSite(query.group_by())
          ? GROUP_SCOPE
          : query.group_by();
  SiteGroups groups = GroupSites(replay.host(), group_by);

  int highest = 0;
  for (int i = 1; i < series->columns_size(); ++i) {
    if (series->columns(i).in_use_max_bytes() >
        series->columns(highest).in_use_max_bytes()) {
      highest = i;
    }
  }
  GroupBytes at_peak(replay, keeps, groups.group_of_site, groups.keys.size());
  at_peak.StartAt(positions[static_cast<size_t>(highest)]);
  std::vector<uint32_t> order(groups.keys.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return at_peak.bytes()[a] > at_peak.bytes()[b];
  });

  // From now on groups are the chosen ones and the others.
  const uint32_t chosen =
      std::min<uint32_t>(top, static_cast<uint32_t>(order.size()));
  const bool has_others = chosen < order.size();
  std::vector<uint32_t> slot_of_group(order.size(), chosen);
  for (uint32_t i = 0; i < chosen; ++i) {
    slot_of_group[order[i]] = i;
    series->add_contributors()->set_key(groups.keys[order[i]]);
  }
  if (has_others) series->add_contributors()->set_key(kOthers);
  for (uint32_t& group : groups.group_of_site) group = slot_of_group[group];

  GroupBytes bytes(replay, keeps, groups.group_of_site,
                   chosen + (has_others ? 1 : 0));
  bytes.StartAt(positions.front());
  for (size_t i = 0; i < positions.size(); ++i) {
    bytes.MoveTo(positions[i]);
    TimelineColumn* column = series->mutable_columns(static_cast<int>(i));
    for (size_t slot = 0; slot < bytes.bytes().size(); ++slot) {
      const auto held =
          static_cast<uint64_t>(std::max<int64_t>(0, bytes.bytes()[slot]));
      column->add_contributor_bytes(held);
      Contributor* contributor =
          series->mutable_contributors(static_cast<int>(slot));
      contributor->set_max_bytes(std::max(contributor->max_bytes(), held));
    }
  }
}

}  // namespace oom_forensics
