#include "converter/datasets/group_timeline.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/datasets/group_key.h"
#include "converter/text/enum_ids.h"

namespace oom_forensics {
namespace {

constexpr Position kMinKeyframeRows = 256;
constexpr Position kRowsPerGroup = 2;

}  // namespace

bool GroupTimeline::CanGroupBy(GroupBy group_by) {
  return group_by == GROUP_ROLE ||
         (group_by != GROUP_NONE && IsGroupOfSite(group_by));
}

void GroupTimeline::GroupSites(GroupBy group_by) {
  const HostTrace& host = replay_.host();
  absl::flat_hash_map<std::string, uint32_t> index;
  for (SiteId site = 0; site < host.sites.size(); ++site) {
    std::string key = SiteGroupKey(host, host.sites.Get(site), group_by);
    const auto [entry, inserted] =
        index.try_emplace(std::move(key), static_cast<uint32_t>(keys_.size()));
    if (inserted) keys_.push_back(entry->first);
    group_of_site_.push_back(entry->second);
  }
}

void GroupTimeline::GroupByRole(const RoleClassifier& roles) {
  role_of_row_.resize(replay_.end_position());
  for (Row row = 0; row < replay_.end_position(); ++row) {
    StopIfCancelled(row);
    if (replay_.trace().kind_of[row] != RowKind::kAlloc) continue;
    role_of_row_[row] = static_cast<uint8_t>(GroupOfRole(roles.RoleOf(row)));
  }
}

uint32_t GroupTimeline::GroupOfRole(Role role) {
  const auto [entry, inserted] =
      group_of_role_.try_emplace(role, static_cast<uint8_t>(keys_.size()));
  if (inserted) keys_.push_back(RoleId(role));
  return entry->second;
}

void GroupTimeline::OpenBlocks(const RowPredicate& keeps,
                               const RoleClassifier* roles) {
  const HostTrace& host = replay_.host();
  for (const auto& [site, parts] : host.block_parts) {
    if (keeps.OpenedParts(site) == nullptr) continue;
    std::vector<PartSum>& sums = opened_[site];
    for (const SitePart& part : parts) {
      if (!keeps.KeepsPartOfSite(part)) continue;
      sums.push_back(
          {roles != nullptr ? GroupOfRole(roles->RoleOfPart(part.site))
                            : group_of_site_[part.site],
           static_cast<int64_t>(host.sites.Get(part.site).allocated_bytes)});
    }
  }
}

GroupTimeline::GroupTimeline(const SelectedAllocator& allocator,
                             const RowPredicate& keeps, GroupBy group_by)
    : replay_(*allocator.replay) {
  if (group_by == GROUP_ROLE) {
    const RoleClassifier& roles = allocator.host->Roles(replay_);
    GroupByRole(roles);
    OpenBlocks(keeps, &roles);
  } else {
    GroupSites(group_by);
    OpenBlocks(keeps, nullptr);
  }
  const Position end = replay_.end_position();
  if (!keeps.keeps_all()) {
    counted_.resize(end);
    for (Row row = 0; row < end; ++row) {
      StopIfCancelled(row);
      counted_[row] =
          replay_.trace().kind_of[row] == RowKind::kAlloc && keeps(row);
    }
  }
  const uint64_t rows_for_memory = uint64_t{kRowsPerGroup} * keys_.size();
  keyframe_rows_ = static_cast<Position>(
      std::min<uint64_t>(std::max<uint64_t>(kMinKeyframeRows, rows_for_memory),
                         uint64_t{end} + 1));
  std::vector<int64_t> bytes(keys_.size());
  for (Row row = 0; row <= end; ++row) {
    StopIfCancelled(row);
    if (row % keyframe_rows_ == 0) {
      keyframes_.insert(keyframes_.end(), bytes.begin(), bytes.end());
    }
    if (row < end) Apply(row, &bytes);
  }
}

void GroupTimeline::Count(Row alloc, int64_t sign,
                          std::vector<int64_t>* bytes) const {
  if (!counted_.empty() && !counted_[alloc]) return;
  if (!opened_.empty()) {
    const auto opened = opened_.find(replay_.trace().site[alloc]);
    if (opened != opened_.end()) {
      for (const PartSum& part : opened->second) {
        (*bytes)[part.group] += sign * part.bytes;
      }
      return;
    }
  }
  (*bytes)[GroupOf(alloc)] +=
      sign * static_cast<int64_t>(replay_.BytesOf(alloc));
}

void GroupTimeline::Apply(Row row, std::vector<int64_t>* bytes) const {
  const RowKind kind = replay_.trace().kind_of[row];
  if (kind == RowKind::kFree) {
    if (replay_.PartnerOf(row) != kNoRow) {
      Count(replay_.PartnerOf(row), -1, bytes);
    }
    return;
  }
  if (kind != RowKind::kAlloc) return;
  // One whose free is missing gives its place to this one.
  const auto& replaced = replay_.replacements();
  if (!replaced.empty()) {
    auto found = std::lower_bound(replaced.begin(), replaced.end(),
                                  std::pair<Row, Row>(row, 0));
    for (; found != replaced.end() && found->first == row; ++found) {
      Count(found->second, -1, bytes);
    }
  }
  Count(row, 1, bytes);
}

std::vector<int64_t> GroupTimeline::BytesAt(Position position) const {
  const size_t keyframe = position / keyframe_rows_;
  const auto first =
      keyframes_.begin() + static_cast<ptrdiff_t>(keyframe * keys_.size());
  std::vector<int64_t> bytes(first,
                             first + static_cast<ptrdiff_t>(keys_.size()));
  for (Row row = static_cast<Row>(keyframe * keyframe_rows_); row < position;
       ++row) {
    Apply(row, &bytes);
  }
  return bytes;
}

uint64_t GroupTimeline::ResidentBytes() const {
  uint64_t bytes = group_of_site_.capacity() * sizeof(uint32_t) +
                   role_of_row_.capacity() + counted_.capacity() / 8 +
                   keyframes_.capacity() * sizeof(int64_t);
  for (const std::string& key : keys_) bytes += sizeof(key) + key.capacity();
  return bytes;
}

}  // namespace oom_forensics
