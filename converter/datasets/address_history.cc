#include "converter/datasets/address_history.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/coverage_grid.h"
#include "converter/datasets/group_key.h"
#include "converter/datasets/region_stack.h"
#include "converter/datasets/time_columns.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kDefaultRows = 256;
constexpr uint32_t kMaxPictureRows = 1024;
constexpr uint32_t kMaxCells = 1 << 20;
// So far before it is needed memory is asked for.
constexpr Row kRowsAhead = 32;
// What a picture of any width can show, and a browser draw in a blink.
constexpr size_t kMaxRectangles = 10'000;

// Which allocation lies where in the picture.
struct Placed {
  AllocationPart part;
  CellBox box;

  double cells() const { return box.rows() * box.columns(); }
};

// Where addresses and times lie in the picture.
class Axes {
 public:
  Axes(const RegionStack& stack, uint32_t rows, int64_t from_ps, int64_t to_ps,
       uint32_t columns)
      : stack_(stack),
        rows_per_byte_(
            static_cast<double>(rows) /
            static_cast<double>(std::max<uint64_t>(1, stack.total_bytes()))),
        from_ps_(from_ps),
        to_ps_(to_ps),
        columns_per_ps_(static_cast<double>(columns) / Distance(to_ps)) {}

  // None where no part of it is in the picture.
  std::optional<CellBox> Place(uint64_t address, uint64_t size_bytes,
                               int64_t born_ps, int64_t died_ps) const {
    const auto span = stack_.Place(address, size_bytes);
    if (!span.has_value() || born_ps >= to_ps_ || died_ps < from_ps_) {
      return std::nullopt;
    }
    CellBox box;
    box.from_row = static_cast<double>(span->from) * rows_per_byte_;
    box.to_row = static_cast<double>(span->to) * rows_per_byte_;
    box.from_column = ColumnOf(born_ps);
    box.to_column = ColumnOf(died_ps);
    return box;
  }

 private:
  double ColumnOf(int64_t time_ps) const {
    return Distance(std::clamp(time_ps, from_ps_, to_ps_)) * columns_per_ps_;
  }

  // Exact over the whole range of int64.
  double Distance(int64_t time_ps) const {
    return static_cast<double>(static_cast<uint64_t>(time_ps) -
                               static_cast<uint64_t>(from_ps_));
  }

  const RegionStack& stack_;
  double rows_per_byte_;
  int64_t from_ps_;
  int64_t to_ps_;
  double columns_per_ps_;
};

// Numbers the sites of the answer as they are met.
class SiteNumbers {
 public:
  SiteNumbers(const SelectedAllocator& allocator, AddressHistory* answer)
      : allocator_(allocator), answer_(answer) {}

  uint32_t NumberOf(const AllocationPart& part) {
    const AllocatorReplay& replay = *allocator_.replay;
    const AllocationSite& site = replay.host().sites.Get(part.site);
    const Role role = RoleOf(allocator_, part);
    const auto [entry, inserted] =
        numbers_.try_emplace(std::tuple(site.op, site.dtype, role),
                             static_cast<uint32_t>(answer_->sites_size()));
    if (inserted) {
      const std::string& op = replay.host().OpOf(site);
      HistorySite* message = answer_->add_sites();
      message->set_op_name(op);
      message->set_scope(std::string(ScopeOf(op)));
      message->set_op_type(std::string(OpTypeOf(op)));
      message->set_dtype(DtypeName(site.dtype));
      message->set_role(role);
    }
    return entry->second;
  }

 private:
  const SelectedAllocator& allocator_;
  AddressHistory* answer_;
  absl::flat_hash_map<std::tuple<StringId, int32_t, Role>, uint32_t> numbers_;
};

void AddRectangle(const SelectedAllocator& allocator,
                  const AllocationPart& part, SiteNumbers* sites,
                  AddressHistory* answer) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = replay.host();
  const Row alloc = part.row;
  const int64_t born_ps = replay.BornPs(alloc);
  HistoryRectangle* rectangle = answer->add_rectangles();
  rectangle->set_allocation_id(replay.trace().EventOf(alloc));
  rectangle->set_address(replay.trace().address[alloc] + part.offset_bytes);
  rectangle->set_size_bytes(host.sites.Get(part.site).allocated_bytes);
  rectangle->set_born_ns(host.ToNs(born_ps));
  if (replay.EndOf(alloc) != kNoRow) {
    rectangle->set_died_ns(host.ToNs(replay.DiedPs(alloc)));
  }
  rectangle->set_site(sites->NumberOf(part));
  rectangle->set_step(host.StepAt(born_ps));
}

void FillPicture(const SelectedAllocator& allocator, const RegionStack& stack,
                 const NsRange& range, const RowPredicate& keeps,
                 AddressHistory* answer) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const HostTrace& host = replay.host();
  const int64_t from_ps = host.ToPs(range.from_ns);
  const int64_t to_ps = host.ToPs(range.to_ns);
  const Axes axes(stack, answer->rows(), from_ps, to_ps, answer->columns());
  CoverageGrid grid(answer->rows(), answer->columns());
  std::vector<Placed> large;
  const auto place_part = [&](const AllocationPart& part) {
    const Row end = replay.EndOf(part.row);
    // What is never given back stays to the picture's end.
    const auto box = axes.Place(trace.address[part.row] + part.offset_bytes,
                                host.sites.Get(part.site).allocated_bytes,
                                replay.BornPs(part.row),
                                end == kNoRow ? to_ps : trace.time_ps[end]);
    if (!box.has_value()) return;
    if (box->rows() >= 1 && box->columns() >= 1) {
      large.push_back({part, *box});
    } else {
      grid.Add(*box);
    }
  };
  const auto place = [&](Row alloc) { keeps.ForEachPart(alloc, place_part); };
  const Position begin = trace.PositionAt(from_ps);
  for (const Row alloc : replay.LiveAt(begin)) place(alloc);
  const Position end = trace.PositionAt(to_ps);
  for (Row row = begin; row < end; ++row) {
    StopIfCancelled(row);
    // When an allocation ended is all that lies far from it in memory.
    if (row + kRowsAhead < end) {
      const Row far = replay.PartnerOf(row + kRowsAhead);
      if (far != kNoRow) __builtin_prefetch(&trace.time_ps[far]);
    }
    if (trace.kind_of[row] == RowKind::kAlloc) place(row);
  }

  if (large.size() > kMaxRectangles) {
    const auto rest = large.begin() + kMaxRectangles;
    std::nth_element(
        large.begin(), rest, large.end(),
        [](const Placed& a, const Placed& b) { return a.cells() > b.cells(); });
    std::for_each(rest, large.end(),
                  [&grid](const Placed& placed) { grid.Add(placed.box); });
    large.erase(rest, large.end());
  }
  std::sort(large.begin(), large.end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.part.row, a.part.index) <
           std::pair(b.part.row, b.part.index);
  });
  SiteNumbers sites(allocator, answer);
  for (const Placed& placed : large) {
    AddRectangle(allocator, placed.part, &sites, answer);
  }
  answer->set_coverage(grid.Shares());
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerAddressHistory(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  auto answer = std::make_unique<AddressHistory>();
  const AllocatorRef* chosen = ChooseAllocator(*selected);
  if (chosen == nullptr) return DatasetMessage(std::move(answer));
  const Selection only(input.run, {*chosen});
  const SelectedAllocator allocator = LoadAllocator(input.run, *chosen);
  const NsRange range = SelectedRange(only, query.filter());
  answer->set_host(allocator.host->trace().host);
  answer->set_allocator(allocator.replay->trace().name);
  answer->set_from_ns(range.from_ns);
  answer->set_to_ns(range.to_ns);
  const RegionStack stack(allocator.replay->region_changes(),
                          query.from_address(), query.to_address());
  for (const RegionStack::Band& band : stack.bands()) {
    Region* region = answer->add_regions();
    region->set_address(band.address);
    region->set_size_bytes(band.size_bytes);
  }
  const uint32_t rows = query.rows() == 0
                            ? kDefaultRows
                            : std::min(query.rows(), kMaxPictureRows);
  const size_t columns =
      MakeTimeColumns(allocator, range,
                      std::min(ColumnCount(query), kMaxCells / rows))
          .size();
  if (columns > 0 && !stack.bands().empty()) {
    answer->set_columns(static_cast<uint32_t>(columns));
    answer->set_rows(rows);
    FillPicture(allocator, stack, range,
                RowPredicate(allocator, query.filter(), BirthRule::kIgnored),
                answer.get());
  }
  AddQuality(only, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
