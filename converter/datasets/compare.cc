#include "converter/datasets/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/cancellation/cancellation.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/group_key.h"
#include "converter/datasets/page.h"
#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Lines of the summary that name a site.
constexpr size_t kNamedChanges = 3;
// A dtype's share of the bytes that must have changed to be worth a line.
constexpr double kDtypeShift = 0.2;

struct Sum {
  uint64_t bytes = 0;
  uint64_t count = 0;
};

// One of the two states.
struct Side {
  CompareSide message;
  std::map<std::string, Sum> by_key;
  std::map<std::string, uint64_t> bytes_by_dtype;
  // Shapes that each op has.
  std::map<std::string, std::set<std::string>> shapes_by_op;
  size_t ooms = 0;
  uint64_t limit_bytes = 0;
};

// The moment of a side: as asked, else the end of the first step for the first
// of one run, else the first OOM or the peak.
absl::StatusOr<Position> MomentOf(const Run& run,
                                  const SelectedAllocator& allocator,
                                  const Query& query, bool is_first,
                                  bool same_run) {
  if (is_first ? query.has_at() : query.has_other()) {
    return ResolveMoment(run, allocator, is_first ? query.at() : query.other());
  }
  const std::vector<TrainingStep>& steps = allocator.host->trace().steps;
  if (is_first && same_run && !steps.empty()) {
    return allocator.replay->trace().PositionAt(steps.front().end_ps);
  }
  return ResolveMoment(run, allocator, Query());
}

absl::StatusOr<Side> ReadSide(const Run& run, const Selection& selected,
                              const Query& query, bool is_first,
                              bool same_run) {
  Side side;
  side.message.set_run(run.name());
  const GroupBy group_by =
      query.group_by() == GROUP_NONE ? GROUP_SITE : query.group_by();
  for (const SelectedAllocator& allocator : selected) {
    const AllocatorReplay& replay = *allocator.replay;
    const HostTrace& host = allocator.host->trace();
    const auto position = MomentOf(run, allocator, query, is_first, same_run);
    if (!position.ok()) return position.status();
    const RowPredicate keeps(allocator, query.filter(), BirthRule::kFiltered);
    for (const Row row : replay.LiveAt(*position)) {
      StopIfCancelled(row);
      keeps.ForEachPart(row, [&](const AllocationPart& part) {
        const AllocationSite& site = host.sites.Get(part.site);
        Sum& sum = side.by_key[GroupKey(allocator, part, *position, group_by)];
        sum.bytes += site.allocated_bytes;
        ++sum.count;
        side.message.set_in_use_bytes(side.message.in_use_bytes() +
                                      site.allocated_bytes);
        side.message.set_live_count(side.message.live_count() + 1);
        side.bytes_by_dtype[DtypeName(site.dtype)] += site.allocated_bytes;
        if (!host.ShapeOf(site).empty()) {
          side.shapes_by_op[host.OpOf(site)].insert(host.ShapeOf(site));
        }
      });
    }
    side.message.set_time_ns(std::max(side.message.time_ns(),
                                      host.ToNs(replay.TimePsOf(*position))));
    side.ooms += replay.failure_positions().size();
    side.limit_bytes += replay.trace().limit_bytes;
  }
  if (selected.refs().size() == 1) {
    const AllocatorRef& only = selected.refs().front();
    side.message.set_host(selected.HostOf(only).host);
    side.message.set_allocator(selected.SummaryOf(only).name);
  }
  return side;
}

std::string ChangeOf(const Sum& before, const Sum& after) {
  if (before.count == 0) return "new";
  if (after.count == 0) return "gone";
  if (after.bytes == before.bytes) return "same";
  return after.bytes > before.bytes ? "grew" : "shrank";
}

std::vector<CompareRow> MakeRows(const Side& before, const Side& after) {
  std::map<std::string, std::pair<Sum, Sum>> both;
  for (const auto& [key, sum] : before.by_key) both[key].first = sum;
  for (const auto& [key, sum] : after.by_key) both[key].second = sum;
  std::vector<CompareRow> rows;
  for (const auto& [key, sums] : both) {
    CompareRow row;
    row.set_key(key);
    row.set_before_bytes(sums.first.bytes);
    row.set_after_bytes(sums.second.bytes);
    row.set_delta_bytes(static_cast<int64_t>(sums.second.bytes) -
                        static_cast<int64_t>(sums.first.bytes));
    row.set_before_count(sums.first.count);
    row.set_after_count(sums.second.count);
    row.set_change(ChangeOf(sums.first, sums.second));
    rows.push_back(std::move(row));
  }
  std::stable_sort(
      rows.begin(), rows.end(), [](const CompareRow& a, const CompareRow& b) {
        return std::llabs(a.delta_bytes()) > std::llabs(b.delta_bytes());
      });
  return rows;
}

std::string HealthLine(const char* name, const Side& side) {
  return absl::StrCat("The ", name, " ",
                      side.ooms == 0
                          ? "did not run out of memory"
                          : absl::StrCat("ran out of memory ", side.ooms,
                                         side.ooms == 1 ? " time" : " times"),
                      ": ", FormatBytes(side.message.in_use_bytes()), " in use",
                      side.limit_bytes == 0
                          ? std::string()
                          : absl::StrCat(" of ", FormatBytes(side.limit_bytes)),
                      ".");
}

double DtypeShare(const Side& side, const std::string& dtype) {
  const auto found = side.bytes_by_dtype.find(dtype);
  if (found == side.bytes_by_dtype.end() || side.message.in_use_bytes() == 0) {
    return 0;
  }
  return static_cast<double>(found->second) /
         static_cast<double>(side.message.in_use_bytes());
}

// What tells two runs apart beside their sizes.
void AddRunDifferences(const Side& before, const Side& after, Compare* answer) {
  for (const auto& [dtype, bytes] : after.bytes_by_dtype) {
    if (dtype.empty() ||
        DtypeShare(after, dtype) - DtypeShare(before, dtype) < kDtypeShift) {
      continue;
    }
    answer->add_summary(absl::StrCat(
        "The second holds more in ", dtype, ": ", FormatBytes(bytes), " of ",
        FormatBytes(after.message.in_use_bytes()), "."));
  }
  size_t differing = 0;
  std::string example;
  for (const auto& [op, shapes] : after.shapes_by_op) {
    const auto other = before.shapes_by_op.find(op);
    if (other == before.shapes_by_op.end() || other->second == shapes) continue;
    if (differing++ == 0) {
      example = absl::StrCat(op, ": ", *other->second.begin(), " and ",
                             *shapes.begin());
    }
  }
  if (differing != 0) {
    answer->add_summary(
        absl::StrCat(differing, differing == 1 ? " op has" : " ops have",
                     " other shapes in the second (", example, ")."));
  }
}

void Summarize(const Side& before, const Side& after, bool same_run,
               Compare* answer) {
  if (!same_run) {
    answer->add_summary(HealthLine("first", before));
    answer->add_summary(HealthLine("second", after));
  }
  const uint64_t a = before.message.in_use_bytes();
  const uint64_t b = after.message.in_use_bytes();
  answer->add_summary(a == b ? absl::StrCat("Both hold ", FormatBytes(a), ".")
                             : absl::StrCat("The second holds ",
                                            FormatBytes(a > b ? a - b : b - a),
                                            b > a ? " more" : " less",
                                            " than the first: ", FormatBytes(a),
                                            " and ", FormatBytes(b), "."));
  if (!same_run) AddRunDifferences(before, after, answer);
  size_t named = 0;
  for (const CompareRow& row : answer->rows()) {
    if (named == kNamedChanges || row.delta_bytes() == 0) break;
    ++named;
    const uint64_t change = row.delta_bytes() > 0
                                ? row.after_bytes() - row.before_bytes()
                                : row.before_bytes() - row.after_bytes();
    answer->add_summary(
        absl::StrCat(row.key(), ": ", FormatBytes(change),
                     row.delta_bytes() > 0 ? " more" : " less", " (",
                     row.before_count(), " and ", row.after_count(),
                     row.after_count() == 1 ? " tensor" : " tensors", ")."));
  }
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerCompare(const DatasetInput& input) {
  const Query& query = input.query;
  const Run& other_run =
      input.other_run == nullptr ? input.run : *input.other_run;
  const bool same_run = input.other_run == nullptr;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  // Another run has other hosts, and may have other allocators.
  Filter other_filter = query.filter();
  if (!same_run) other_filter.clear_host();
  if (!query.other_host().empty()) other_filter.set_host(query.other_host());
  const bool allocator_is_named = !query.other_allocator().empty();
  if (allocator_is_named) {
    other_filter.set_allocator(query.other_allocator());
  }
  auto other_selected = SelectAllocators(other_run, other_filter);
  if (!other_selected.ok() && !same_run && !allocator_is_named) {
    other_filter.clear_allocator();
    other_selected = SelectAllocators(other_run, other_filter);
  }
  if (!other_selected.ok()) return other_selected.status();
  const auto before = ReadSide(input.run, *selected, query, true, same_run);
  if (!before.ok()) return before.status();
  const auto after =
      ReadSide(other_run, *other_selected, query, false, same_run);
  if (!after.ok()) return after.status();

  auto answer = std::make_unique<Compare>();
  *answer->mutable_before() = before->message;
  *answer->mutable_after() = after->message;
  std::vector<CompareRow> rows = MakeRows(*before, *after);
  answer->set_total_count(rows.size());
  const Page page = PageOf(query, rows.size());
  for (size_t i = page.begin; i < page.end; ++i) {
    *answer->add_rows() = std::move(rows[i]);
  }
  Summarize(*before, *after, same_run, answer.get());
  AddQuality(*selected, answer->mutable_quality());
  if (!same_run) AddQuality(*other_selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
