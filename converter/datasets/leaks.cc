#include "converter/datasets/leaks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/page.h"
#include "converter/datasets/source_messages.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/leak_finder.h"
#include "converter/forensics/source_frames.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// How many of a leak's oldest allocations are shown.
constexpr size_t kSamples = 10;

// Where leaks are looked at: the moment asked for, else the last OOM, else the
// end of the last step. After those a program lets go of all that it held.
absl::StatusOr<Position> MomentOf(const Run& run,
                                  const SelectedAllocator& allocator,
                                  const Query& query) {
  if (query.has_at()) return ResolveMoment(run, allocator, query.at());
  const AllocatorReplay& replay = *allocator.replay;
  if (!replay.failure_positions().empty()) {
    return replay.failure_positions().back();
  }
  const std::vector<TrainingStep>& steps = allocator.host->trace().steps;
  return steps.empty() ? replay.end_position()
                       : replay.trace().PositionAt(steps.back().end_ps);
}

std::string Sentence(const FoundLeak& leak, const StepIndex& steps,
                     const std::string& what) {
  const std::string unit = steps.unit();
  if (leak.kind == FoundLeak::Kind::kSurvivor) {
    return absl::StrCat(FormatCount(leak.rows.size()), " of ", what,
                        " are still live, though others like them are freed "
                        "within a ",
                        unit, ".");
  }
  return absl::StrCat(what, " grows by ",
                      FormatBytes(static_cast<uint64_t>(leak.trend.slope)),
                      " per ", unit, " since ", unit, " ",
                      steps.spans()[leak.trend.since].number, ": ",
                      FormatCount(leak.rows.size()), " are kept, ",
                      FormatBytes(leak.live_bytes), ".");
}

Leak MakeLeak(const SelectedAllocator& allocator, const FoundLeak& found,
              const StepIndex& steps) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  const AllocationSite& site = replay.SiteOf(found.rows.front());
  const std::string& op = host.OpOf(site);
  Leak leak;
  leak.set_host(host.host);
  leak.set_allocator(replay.trace().name);
  leak.set_op_name(op);
  leak.set_scope(std::string(ScopeOf(op)));
  std::vector<int64_t> dims;
  ParseShape(host.ShapeOf(site), &dims);
  leak.mutable_shape()->Assign(dims.begin(), dims.end());
  leak.set_dtype(DtypeName(site.dtype));
  leak.set_live_count(found.rows.size());
  leak.set_live_bytes(found.live_bytes);
  if (found.kind == FoundLeak::Kind::kGrowth) {
    leak.set_kind("growth");
    leak.set_bytes_per_step(found.trend.slope);
    leak.set_bytes_per_step_low(found.trend.slope_low);
    leak.set_bytes_per_step_high(found.trend.slope_high);
    const StepSpan& since = steps.spans()[found.trend.since];
    leak.set_since_step(since.number);
    leak.set_since_ns(host.ToNs(replay.TimePsOf(since.begin)));
  } else {
    leak.set_kind("survivor");
    leak.set_since_step(
        steps.spans()[static_cast<size_t>(steps.IndexOf(found.rows.front()))]
            .number);
    leak.set_since_ns(host.ToNs(replay.BornPs(found.rows.front())));
  }
  leak.set_sentence(Sentence(found, steps,
                             absl::StrCat(op.empty() ? "(no op recorded)" : op,
                                          " ", host.ShapeOf(site))));
  for (size_t i = 0; i < std::min(kSamples, found.rows.size()); ++i) {
    *leak.add_samples() = MakeAllocation(allocator, found.rows[i]);
  }
  const LineId line = DominantLine(replay, found.rows);
  for (const Row row : found.rows) {
    if (line == kNoLine) break;
    if (SourceOf(host, replay.SiteOf(row)).line != line) continue;
    FillSourceLocation(host, replay.SiteOf(row), Frames::kAll,
                       leak.mutable_source());
    break;
  }
  AddKeepers(allocator, found.rows, leak.mutable_keepers());
  for (size_t i = 0; i < found.bytes_by_step.size(); ++i) {
    StepBytes* bytes = leak.add_by_step();
    bytes->set_step(steps.spans()[i].number);
    bytes->set_bytes(found.bytes_by_step[i]);
  }
  return leak;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerLeaks(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  std::vector<Leak> leaks;
  for (const SelectedAllocator& allocator : *selected) {
    const auto position = MomentOf(input.run, allocator, query);
    if (!position.ok()) return position.status();
    const RowPredicate keeps(allocator, query.filter(), BirthRule::kFiltered);
    const auto found = LeaksAt(allocator, *position);
    for (const FoundLeak& leak : found->leaks) {
      if (std::none_of(leak.rows.begin(), leak.rows.end(), std::cref(keeps))) {
        continue;
      }
      leaks.push_back(MakeLeak(allocator, leak, found->steps));
    }
  }
  std::stable_sort(leaks.begin(), leaks.end(),
                   [](const Leak& a, const Leak& b) {
                     return a.live_bytes() > b.live_bytes();
                   });
  auto answer = std::make_unique<Leaks>();
  const Page page = PageOf(query, leaks.size());
  for (size_t i = page.begin; i < page.end; ++i) {
    *answer->add_leaks() = std::move(leaks[i]);
  }
  AddQuality(*selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
