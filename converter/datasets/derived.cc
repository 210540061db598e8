#include "converter/datasets/derived.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace oom_forensics {
std::string DerivedName(const std::string& type,
                        const SelectedAllocator& allocator, Filter filter) {
  filter.clear_from_ns();
  filter.clear_to_ns();
  filter.clear_from_step();
  filter.clear_to_step();
  filter.clear_host();
  filter.set_allocator(allocator.replay->trace().name);
  // The index, because two allocators may claim one name.
  size_t index = 0;
  for (const auto& replay : allocator.host->allocators()) {
    if (replay.get() == allocator.replay) break;
    ++index;
  }
  return absl::StrCat(type, " ", index, " ", filter.SerializeAsString());
}

std::shared_ptr<const UsageTimeline> FilteredUsage(
    const SelectedAllocator& allocator, const Filter& filter) {
  return allocator.host->cache().Get<UsageTimeline>(
      DerivedName("usage", allocator, filter), [&] {
        const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
        return std::make_shared<const UsageTimeline>(allocator.replay, keeps);
      });
}

std::shared_ptr<const GroupTimeline> GroupsOverTime(
    const SelectedAllocator& allocator, const Filter& filter,
    GroupBy group_by) {
  const std::string type = absl::StrCat("groups ", static_cast<int>(group_by));
  return allocator.host->cache().Get<GroupTimeline>(
      DerivedName(type, allocator, filter), [&] {
        const RowPredicate keeps(allocator, filter, BirthRule::kIgnored);
        return std::make_shared<const GroupTimeline>(*allocator.replay, keeps,
                                                     group_by);
      });
}

std::shared_ptr<const HoleTimeline> HolesOverTime(
    const SelectedAllocator& allocator, uint64_t request_bytes) {
  const std::string type = absl::StrCat("holes ", RoundedBytes(request_bytes));
  return allocator.host->cache().Get<HoleTimeline>(
      DerivedName(type, allocator, Filter()), [&] {
        return std::make_shared<const HoleTimeline>(*allocator.replay,
                                                    request_bytes);
      });
}

}  // namespace oom_forensics
