#include "converter/datasets/allocations.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "converter/cancellation/cancellation.h"
#include "converter/datasets/allocation_groups.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/page.h"
#include "converter/datasets/source_messages.h"
#include "converter/forensics/held.h"

namespace oom_forensics {
namespace {

// What rows are sorted by: a number or a text.
struct SortValue {
  int64_t number = 0;
  const std::string* text = nullptr;
};

// An allocation of any of the selected allocators, which may not be in memory.
struct Item {
  int64_t number = 0;
  std::string text;
  AllocatorRef ref;
  AllocationPart part;
};

SortValue ValueOf(const AllocatorReplay& replay, const AllocationPart& part,
                  SortKey key) {
  const HostTrace& host = replay.host();
  const AllocationSite& site = host.sites.Get(part.site);
  const Row row = part.row;
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
      return number((replay.trace().address[row] + part.offset_bytes) ^
                    (uint64_t{1} << 63));
    case SORT_BORN:
      return {replay.BornPs(row), nullptr};
    case SORT_LIFETIME:
      return {replay.DiedPs(row) - replay.BornPs(row), nullptr};
    case SORT_STEP:
      return {host.StepAt(replay.BornPs(row)), nullptr};
    case SORT_WASTE:
      return {static_cast<int64_t>(site.allocated_bytes - site.requested_bytes),
              nullptr};
    default:
      return number(site.allocated_bytes);
  }
}

// Sorts the first `count`, no more than there are; what lies behind them stays
// unordered.
template <typename Rows, typename Before>
void SortFirst(size_t count, Rows* rows, Before before) {
  const auto sorted = static_cast<ptrdiff_t>(std::min(count, rows->size()));
  std::partial_sort(rows->begin(), rows->begin() + sorted, rows->end(), before);
}

// The first rows of all allocators together, found with one of them in memory
// at a time.
class FirstItems {
 public:
  FirstItems(SortKey key, bool ascending, size_t count)
      : key_(key), ascending_(ascending), count_(count) {}

  void Add(const SelectedAllocator& allocator,
           const std::vector<AllocationPart>& parts) {
    struct Keyed {
      SortValue value;
      AllocationPart part;
    };
    std::vector<Keyed> keyed;
    keyed.reserve(parts.size());
    for (const AllocationPart& part : parts) {
      keyed.push_back({ValueOf(*allocator.replay, part, key_), part});
    }
    SortFirst(count_, &keyed, [this](const Keyed& a, const Keyed& b) {
      const int order = a.value.text != nullptr && b.value.text != nullptr
                            ? a.value.text->compare(*b.value.text)
                            : Order(a.value.number, b.value.number);
      return order == 0 ? Numbers(a.part) < Numbers(b.part)
                        : (order < 0) == ascending_;
    });
    if (keyed.size() > count_) keyed.resize(count_);
    for (const Keyed& each : keyed) {
      items_.push_back({each.value.number,
                        each.value.text == nullptr ? "" : *each.value.text,
                        allocator.ref, each.part});
    }
    if (keyed.size() == items_.size()) return;
    // Equal ones stay in the order of allocators and age, so that pages do not
    // change.
    SortFirst(count_, &items_, [this](const Item& a, const Item& b) {
      const int order = a.text.empty() && b.text.empty()
                            ? Order(a.number, b.number)
                            : a.text.compare(b.text);
      if (order != 0) return (order < 0) == ascending_;
      return std::tuple(a.ref.host, a.ref.allocator, Numbers(a.part)) <
             std::tuple(b.ref.host, b.ref.allocator, Numbers(b.part));
    });
    if (items_.size() > count_) items_.resize(count_);
  }

  const std::vector<Item>& items() const { return items_; }

 private:
  static std::pair<Row, int32_t> Numbers(const AllocationPart& part) {
    return {part.row, part.index};
  }
  static int Order(int64_t a, int64_t b) {
    return a == b ? 0 : (a < b ? -1 : 1);
  }

  const SortKey key_;
  const bool ascending_;
  const size_t count_;
  std::vector<Item> items_;
};

// The items of the page, each host loaded once.
void FillPage(const Run& run, const std::vector<Item>& items, const Page& page,
              Allocations* answer) {
  std::vector<size_t> by_allocator;
  for (size_t i = page.begin; i < page.end; ++i) {
    by_allocator.push_back(i);
    answer->add_allocations();
  }
  const auto ref_of = [&items](size_t i) {
    return std::pair(items[i].ref.host, items[i].ref.allocator);
  };
  std::stable_sort(
      by_allocator.begin(), by_allocator.end(),
      [&ref_of](size_t a, size_t b) { return ref_of(a) < ref_of(b); });
  std::optional<SelectedAllocator> allocator;
  for (const size_t i : by_allocator) {
    if (!allocator.has_value() || !(allocator->ref == items[i].ref)) {
      allocator.reset();
      allocator = LoadAllocator(run, items[i].ref);
    }
    *answer->mutable_allocations(static_cast<int>(i - page.begin)) =
        MakePart(*allocator, items[i].part);
  }
}

// All that lived at some time of [from, to).
std::vector<Row> LivedIn(const AllocatorReplay& replay, Position from,
                         Position to) {
  std::vector<Row> rows = replay.LiveAt(from);
  for (Row row = from; row < to; ++row) {
    StopIfCancelled(row);
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
  FirstItems first(query.sort(), query.ascending(),
                   PageOf(query, std::numeric_limits<size_t>::max()).end);
  for (const SelectedAllocator& allocator : *selected) {
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
    std::vector<AllocationPart> parts;
    parts.reserve(rows.size());
    std::vector<Row> matching;
    for (const Row row : rows) {
      StopIfCancelled(row);
      const size_t before = parts.size();
      keeps.ForEachPart(
          row, [&parts](const AllocationPart& part) { parts.push_back(part); });
      if (parts.size() > before) matching.push_back(row);
    }
    for (const AllocationPart& part : parts) {
      const AllocationSite& site = replay.host().sites.Get(part.site);
      answer->set_total_count(answer->total_count() + 1);
      answer->set_total_allocated_bytes(answer->total_allocated_bytes() +
                                        site.allocated_bytes);
      answer->set_total_requested_bytes(answer->total_requested_bytes() +
                                        site.requested_bytes);
      groups.Add(allocator, part, position);
    }
    first.Add(allocator, parts);
    if (!query.range() && !replay.host().source.keepers().empty()) {
      AddKeepers(allocator,
                 LiveWhenKeepersWereSought(replay, std::move(matching)),
                 answer->mutable_keepers());
    }
  }
  FillPage(input.run, first.items(), PageOf(query, first.items().size()),
           answer.get());
  groups.Write(query.sort(), query.ascending(), answer->mutable_groups());
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
