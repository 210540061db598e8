#include "converter/datasets/allocations.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "converter/datasets/allocation_groups.h"
#include "converter/datasets/messages.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kDefaultLimit = 100;
constexpr uint32_t kMaxLimit = 10'000;

// An allocation of any of the selected allocators.
struct Item {
  const SelectedAllocator* allocator;
  Row row;
};

// What rows are sorted by: a number or a text.
struct SortValue {
  int64_t number = 0;
  const std::string* text = nullptr;
};

SortValue ValueOf(const Item& item, SortKey key) {
  const AllocatorReplay& replay = *item.allocator->replay;
  const HostTrace& host = item.allocator->host->trace();
  const AllocationSite& site = replay.SiteOf(item.row);
  const auto number = [](uint64_t bytes) {
    return SortValue{static_cast<int64_t>(bytes), nullptr};
  };
  switch (key) {
    case SORT_REQUESTED_BYTES:
      return number(site.requested_bytes);
    case SORT_OP:
      return {0, &host.OpOf(site)};
    case SORT_SHAPE:
      return {0, &host.ShapeOf(site)};
    case SORT_DTYPE:
      return {site.dtype, nullptr};
    case SORT_ADDRESS:
      // Ordered as unsigned.
      return number(replay.trace().address[item.row] ^ (uint64_t{1} << 63));
    case SORT_BORN:
      return {replay.BornPs(item.row), nullptr};
    case SORT_LIFETIME:
      return {replay.DiedPs(item.row) - replay.BornPs(item.row), nullptr};
    case SORT_STEP:
      return {host.StepAt(replay.BornPs(item.row)), nullptr};
    case SORT_WASTE:
      return {static_cast<int64_t>(site.allocated_bytes - site.requested_bytes),
              nullptr};
    default:
      return number(site.allocated_bytes);
  }
}

bool Less(const SortValue& a, const SortValue& b) {
  if (a.text != nullptr && b.text != nullptr) return *a.text < *b.text;
  return a.number < b.number;
}

// Orders the page's items; what lies beyond the page stays unordered.
void SortItems(SortKey key, bool ascending, size_t end_of_page,
               std::vector<Item>* items) {
  struct Keyed {
    SortValue value;
    Item item;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(items->size());
  for (const Item& item : *items) keyed.push_back({ValueOf(item, key), item});
  const auto before = [ascending](const Keyed& a, const Keyed& b) {
    if (Less(a.value, b.value)) return ascending;
    if (Less(b.value, a.value)) return !ascending;
    // Equal ones by allocator and age, so that pages do not change.
    return std::pair(a.item.allocator, a.item.row) <
           std::pair(b.item.allocator, b.item.row);
  };
  const size_t sorted = std::min(end_of_page, keyed.size());
  std::partial_sort(keyed.begin(),
                    keyed.begin() + static_cast<ptrdiff_t>(sorted), keyed.end(),
                    before);
  for (size_t i = 0; i < keyed.size(); ++i) (*items)[i] = keyed[i].item;
}

// All that lived at some time of [from, to).
std::vector<Row> LivedIn(const AllocatorReplay& replay, Position from,
                         Position to) {
  std::vector<Row> rows = replay.LiveAt(from);
  for (Row row = from; row < to; ++row) {
    if (replay.trace().kind_of[row] == RowKind::kAlloc) rows.push_back(row);
  }
  return rows;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerAllocations(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  const NsRange range = SelectedRange(*selected, query.filter());
  auto answer = std::make_unique<Allocations>();
  AllocationGroups groups(query.group_by(), query.filter().scope());
  std::vector<Item> items;
  const std::vector<SelectedAllocator> allocators = selected->LoadAll();
  for (const SelectedAllocator& allocator : allocators) {
    const AllocatorReplay& replay = *allocator.replay;
    const RowPredicate keeps(
        allocator, query.filter(),
        query.range() ? BirthRule::kIgnored : BirthRule::kFiltered);
    std::vector<Row> rows;
    Position position = 0;
    if (query.range()) {
      const HostTrace& host = allocator.host->trace();
      position = replay.trace().PositionAt(host.ToPs(range.to_ns));
      rows =
          LivedIn(replay, replay.trace().PositionAt(host.ToPs(range.from_ns)),
                  position);
    } else {
      const auto moment = ResolveMoment(input.run, allocator, query);
      if (!moment.ok()) return moment.status();
      position = *moment;
      rows = replay.LiveAt(position);
    }
    answer->set_time_ns(
        std::max(answer->time_ns(),
                 allocator.host->trace().ToNs(replay.TimePsOf(position))));
    for (const Row row : rows) {
      if (!keeps(row)) continue;
      const AllocationSite& site = replay.SiteOf(row);
      answer->set_total_count(answer->total_count() + 1);
      answer->set_total_allocated_bytes(answer->total_allocated_bytes() +
                                        site.allocated_bytes);
      answer->set_total_requested_bytes(answer->total_requested_bytes() +
                                        site.requested_bytes);
      groups.Add(allocator, row, position);
      items.push_back({&allocator, row});
    }
  }
  const size_t limit =
      query.limit() == 0 ? kDefaultLimit : std::min(query.limit(), kMaxLimit);
  const size_t end = size_t{query.offset()} + limit;
  SortItems(query.sort(), query.ascending(), end, &items);
  for (size_t i = query.offset(); i < std::min(end, items.size()); ++i) {
    *answer->add_allocations() =
        MakeAllocation(*items[i].allocator, items[i].row);
  }
  groups.Write(query.sort(), query.ascending(), answer->mutable_groups());
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
