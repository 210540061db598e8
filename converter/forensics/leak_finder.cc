#include "converter/forensics/leak_finder.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "converter/cancellation/cancellation.h"

namespace oom_forensics {
namespace {

// Part of the finished siblings that must have gone within a step.
constexpr double kMinShortLivedShare = 0.9;
// A survivor has lived so many times as many steps as any sibling did.
constexpr int64_t kSurvivorFactor = 4;
// A step is longer than as many calls, or rounds that nobody marked: what is
// collected in fewer of them may be what one step works on.
constexpr size_t kFewCalls = 12;
constexpr size_t kFewRounds = 16;
// More items than a step that nobody marked works on.
constexpr size_t kManyItems = 32;
// Nothing was added for so many times the longest wait between two items: it is
// full.
constexpr size_t kFullAfter = 3;
// What an expression is still building ends with it (chains.py says so).
constexpr char kNotHeldYet[] = "that no variable holds yet";
// Fewest items that can be the rounds of a loop.
constexpr size_t kMinItems = 5;
// Constants that are made once for a graph and kept with it are smaller.
constexpr uint64_t kMinSurvivorBytes = 4096;

// What allocations of one object of the program did, or else of one op, shape
// and dtype.
struct SiteHistory {
  const Container* container = nullptr;
  std::vector<Row> live;
  // Step index and live bytes after it, where they changed.
  std::vector<std::pair<size_t, uint64_t>> changes;
  uint64_t bytes = 0;
  size_t finished = 0;
  size_t short_lived = 0;
  int64_t longest_steps = 0;
};

class LeakSearch {
 public:
  LeakSearch(const AllocatorReplay& replay, const HeldTable& held,
             const StepIndex& steps, Position position)
      : replay_(replay),
        held_(held),
        steps_(steps),
        position_(position),
        asked_(AskedAt(replay.trace(), position)) {}

  void Run(LeakSearchResult* result) {
    GroupSites();
    FindLive();
    ReadHistory();
    for (const SiteHistory& history : histories_) {
      if (history.live.empty()) continue;
      std::optional<FoundLeak> leak = Growth(history);
      if (!leak.has_value()) leak = Collection(history);
      if (!leak.has_value()) leak = Survivors(history);
      if (!leak.has_value() || IsHeldForWork(*leak) || IsOfOneCall(*leak)) {
        continue;
      }
      (leak->end == FoundLeak::End::kNotSeen ? result->leaks
                                             : result->collections)
          .push_back(*std::move(leak));
    }
    for (auto* found : {&result->leaks, &result->collections}) {
      std::sort(found->begin(), found->end(),
                [](const FoundLeak& a, const FoundLeak& b) {
                  return std::make_tuple(b.live_bytes, a.rows.front()) <
                         std::make_tuple(a.live_bytes, b.rows.front());
                });
    }
  }

 private:
  // Where a request that was refused was made first: while the allocator waits,
  // others go on.
  static Position AskedAt(const AllocatorTrace& trace, Position position) {
    const FailedRequest* const failed = trace.FailureOf(position);
    if (failed == nullptr) return position;
    const auto waited_ps = static_cast<int64_t>(failed->waited_ns) * 1000;
    return std::min(position,
                    trace.PositionAt(trace.time_ps[position] - waited_ps));
  }

  // A tape at work keeps what it needs for the backward pass, and a program
  // means to hold its variables.
  bool IsHeldForWork(const FoundLeak& leak) const {
    const auto held =
        std::count_if(leak.rows.begin(), leak.rows.end(), [this](Row row) {
          return held_.IsOnTape(row) || held_.IsVariable(row);
        });
    return 2 * static_cast<size_t>(held) > leak.rows.size();
  }

  // What the loops of a function at work keep for its end is not kept from one
  // call to the next.
  bool IsOfOneCall(const FoundLeak& leak) const {
    const AllocatorTrace& trace = replay_.trace();
    const int64_t call = trace.ContextOf(leak.rows.front()).step_id;
    return call != 0 && trace.FailureOf(position_) != nullptr &&
           trace.ContextOf(position_).step_id == call &&
           std::all_of(leak.rows.begin(), leak.rows.end(), [&](Row row) {
             return trace.ContextOf(row).step_id == call;
           });
  }

  // Sites whose live allocations an object holds are one group.
  void GroupSites() {
    const SiteTable& sites = replay_.host().sites;
    absl::flat_hash_map<std::tuple<StringId, StringId, int32_t, uint64_t>,
                        size_t>
        groups;
    absl::flat_hash_map<const Container*, size_t> group_of_container;
    constexpr size_t kNoGroup = SIZE_MAX;
    group_of_.resize(sites.size(), kNoGroup);
    const auto new_group = [this] {
      histories_.emplace_back();
      return histories_.size() - 1;
    };
    for (const Container& container : held_.containers()) {
      if (container.holds_variables) continue;
      for (const Row row : container.rows) {
        size_t& group = group_of_[replay_.trace().site[row]];
        if (group != kNoGroup || held_.ContainerOf(row) != &container) continue;
        const auto [known, is_new] =
            group_of_container.try_emplace(&container, 0);
        if (is_new) known->second = new_group();
        histories_[known->second].container = &container;
        group = known->second;
      }
    }
    for (SiteId id = 0; id < sites.size(); ++id) {
      if (group_of_[id] != kNoGroup) continue;
      const AllocationSite& site = sites.Get(id);
      const auto [known, is_new] = groups.try_emplace(
          std::make_tuple(site.op, site.shape, site.dtype,
                          site.op == kEmptyString ? site.requested_bytes : 0));
      if (is_new) known->second = new_group();
      group_of_[id] = known->second;
    }
  }

  // What holds nothing is no leak: only groups that do are followed.
  void FindLive() {
    std::vector<Row> live = held_.live();
    std::sort(live.begin(), live.end());
    for (const Row row : live) {
      SiteHistory& history = HistoryOf(row);
      // Others may use the same sites.
      if (history.container == nullptr ||
          held_.ContainerOf(row) == history.container) {
        history.live.push_back(row);
      }
    }
    is_followed_.resize(group_of_.size());
    for (SiteId id = 0; id < group_of_.size(); ++id) {
      is_followed_[id] = !histories_[group_of_[id]].live.empty();
    }
  }

  SiteHistory& HistoryOf(Row alloc) {
    return histories_[group_of_[replay_.trace().site[alloc]]];
  }

  void ReadHistory() {
    const AllocatorTrace& trace = replay_.trace();
    std::vector<size_t> touched;
    std::vector<bool> is_touched(histories_.size());
    size_t step = 0;
    // The step of the current row.
    int64_t now = -1;
    const auto end_steps_before = [&](Position position) {
      for (;
           step < steps_.spans().size() && steps_.spans()[step].end <= position;
           ++step) {
        for (const size_t group : touched) {
          histories_[group].changes.emplace_back(step, histories_[group].bytes);
          is_touched[group] = false;
        }
        touched.clear();
      }
    };
    const auto touch = [&](Row alloc) {
      const size_t group = group_of_[trace.site[alloc]];
      if (!is_touched[group]) touched.push_back(group);
      is_touched[group] = true;
    };
    for (Row row = 0; row < position_; ++row) {
      StopIfCancelled(row);
      end_steps_before(row);
      while (now + 1 < static_cast<int64_t>(steps_.spans().size()) &&
             steps_.spans()[static_cast<size_t>(now + 1)].begin <= row) {
        ++now;
      }
      if (trace.kind_of[row] == RowKind::kAlloc) {
        if (!is_followed_[trace.site[row]]) continue;
        HistoryOf(row).bytes += replay_.BytesOf(row);
        touch(row);
      } else if (trace.kind_of[row] == RowKind::kFree) {
        const Row alloc = replay_.PartnerOf(row);
        if (alloc == kNoRow || !is_followed_[trace.site[alloc]]) continue;
        Finish(alloc, now);
        touch(alloc);
      }
    }
    end_steps_before(position_);
  }

  // `now` is the index of the step that frees it.
  void Finish(Row alloc, int64_t now) {
    SiteHistory& history = HistoryOf(alloc);
    history.bytes -= replay_.BytesOf(alloc);
    // Most were made in this step or in the one before it.
    int64_t born = now;
    while (born > now - 2 && born >= 0 &&
           steps_.spans()[static_cast<size_t>(born)].begin > alloc) {
      --born;
    }
    if (born == now - 2) born = steps_.IndexOf(alloc);
    const int64_t lived = now - born;
    ++history.finished;
    if (lived <= 1) ++history.short_lived;
    history.longest_steps = std::max(history.longest_steps, lived);
  }

  std::vector<uint64_t> BytesByStep(const SiteHistory& history) const {
    std::vector<uint64_t> series(steps_.spans().size());
    uint64_t bytes = 0;
    size_t change = 0;
    for (size_t step = 0; step < series.size(); ++step) {
      if (change < history.changes.size() &&
          history.changes[change].first == step) {
        bytes = history.changes[change++].second;
      }
      series[step] = bytes;
    }
    return series;
  }

  FoundLeak Describe(FoundLeak::Kind kind, std::vector<Row> rows,
                     const SiteHistory& history) const {
    FoundLeak leak;
    leak.kind = kind;
    leak.container = history.container;
    leak.rows = std::move(rows);
    for (const Row row : leak.rows) leak.live_bytes += replay_.BytesOf(row);
    leak.bytes_by_step = BytesByStep(history);
    return leak;
  }

  // What nothing but the trend can show: whether more is to come.
  FoundLeak::End EndOf(const SiteHistory& history, size_t steps) const {
    if (history.container == nullptr) return FoundLeak::End::kNotSeen;
    if (history.container->most_items != 0) return FoundLeak::End::kHasBound;
    if (absl::StrContains(history.container->name, kNotHeldYet)) {
      return FoundLeak::End::kMayBeEmptied;
    }
    Row longest = 1;
    for (size_t i = 1 + history.live.size() / 2; i < history.live.size(); ++i) {
      longest = std::max(longest, history.live[i] - history.live[i - 1]);
    }
    if (asked_ > history.live.back() + kFullAfter * longest) {
      return FoundLeak::End::kIsFull;
    }
    if (IsOfOtherWork(history)) return FoundLeak::End::kMayBeEmptied;
    const bool is_few =
        history.live.size() < kManyItems &&
        ((steps_.source() == StepIndex::Source::kCalls && steps < kFewCalls) ||
         (steps_.source() == StepIndex::Source::kRounds && steps < kFewRounds));
    return is_few ? FoundLeak::End::kMayBeEmptied : FoundLeak::End::kNotSeen;
  }

  // Items that make rounds grow by one a round, whatever the program does now:
  // it does something else where none of them came with a request like the one
  // that was refused.
  bool IsOfOtherWork(const SiteHistory& history) const {
    const AllocatorTrace& trace = replay_.trace();
    if (steps_.source() != StepIndex::Source::kRounds ||
        trace.FailureOf(position_) == nullptr) {
      return false;
    }
    const AllocationSite& refused = replay_.SiteOf(position_);
    for (Row row = history.live.front(); row <= history.live.back(); ++row) {
      StopIfCancelled(row);
      if (trace.kind_of[row] != RowKind::kAlloc) continue;
      const AllocationSite& site = replay_.SiteOf(row);
      if (site.op == refused.op && site.stack == refused.stack) return false;
    }
    return true;
  }

  // What an object of the program's holds of several items, though it does not
  // grow now.
  std::optional<FoundLeak> Collection(const SiteHistory& history) const {
    const Container* const container = history.container;
    if (container == nullptr || container->is_of_library ||
        history.live.size() < kMinLeakSteps) {
      return std::nullopt;
    }
    FoundLeak leak = Describe(FoundLeak::Kind::kGrowth, history.live, history);
    leak.end = EndOf(history, 0);
    if (leak.end == FoundLeak::End::kNotSeen) {
      leak.end = FoundLeak::End::kMayBeEmptied;
    }
    return leak;
  }

  std::optional<FoundLeak> Growth(const SiteHistory& history) const {
    std::vector<Row> rows;
    size_t birth_steps = 0;
    int64_t last_step = -1;
    for (const Row row : history.live) {
      const int64_t step = steps_.IndexOf(row);
      if (step < 0) continue;
      rows.push_back(row);
      if (step != last_step) ++birth_steps;
      last_step = step;
    }
    if (birth_steps < kMinLeakSteps) return std::nullopt;
    FoundLeak leak = Describe(FoundLeak::Kind::kGrowth, rows, history);
    std::vector<double> x, y;
    for (size_t i = 0; i < leak.bytes_by_step.size(); ++i) {
      x.push_back(static_cast<double>(i));
      y.push_back(static_cast<double>(leak.bytes_by_step[i]));
    }
    const std::optional<Trend> trend = FitTrend(x, y);
    if (!trend.has_value() || trend->slope_low <= 0) return std::nullopt;
    const auto middle = static_cast<std::ptrdiff_t>(x.size() / 2);
    const std::optional<Trend> later =
        FitTrend({x.begin() + middle, x.end()}, {y.begin() + middle, y.end()});
    if (later.has_value() && later->slope_low <= 0) return std::nullopt;
    leak.trend = *trend;
    leak.end = EndOf(history, birth_steps);
    return leak;
  }

  std::optional<FoundLeak> Survivors(const SiteHistory& history) const {
    // What no op made is of no one kind: batches and variables are there alike.
    if (replay_.SiteOf(history.live.front()).op == kEmptyString ||
        history.finished < kMinSiblings ||
        static_cast<double>(history.short_lived) <
            kMinShortLivedShare * static_cast<double>(history.finished)) {
      return std::nullopt;
    }
    const int64_t now = static_cast<int64_t>(steps_.spans().size());
    const int64_t longest = std::max<int64_t>(1, history.longest_steps);
    std::vector<Row> rows;
    for (const Row row : history.live) {
      const int64_t born = steps_.IndexOf(row);
      if (born >= 0 && now - born > kSurvivorFactor * longest &&
          replay_.BytesOf(row) >= kMinSurvivorBytes) {
        rows.push_back(row);
      }
    }
    if (rows.empty()) return std::nullopt;
    return Describe(FoundLeak::Kind::kSurvivor, std::move(rows), history);
  }

  const AllocatorReplay& replay_;
  const HeldTable& held_;
  const StepIndex& steps_;
  const Position position_;
  const Position asked_;
  // By site.
  std::vector<size_t> group_of_;
  std::vector<bool> is_followed_;
  std::vector<SiteHistory> histories_;
};

// The items of the object that collects most, where an op made one of each.
std::vector<Row> ItemsOfLargest(const AllocatorReplay& replay,
                                const HeldTable& held) {
  for (const Container& container : held.containers()) {
    if (container.holds_variables || container.is_of_library) continue;
    std::vector<Row> items;
    for (const Row row : container.rows) {
      const AllocationSite& site = replay.SiteOf(row);
      const AllocationSite& first = replay.SiteOf(container.rows.front());
      if (site.op == first.op && site.stack == first.stack) {
        items.push_back(row);
      }
    }
    if (items.size() >= kMinItems) return items;
    return {};
  }
  return {};
}

}  // namespace

LeakSearchResult FindLeaks(const AllocatorReplay& replay, Position position) {
  auto held =
      std::make_shared<const HeldTable>(replay, replay.LiveAt(position));
  LeakSearchResult result{
      StepIndex(replay, position, ItemsOfLargest(replay, *held),
                held->OnTape()),
      {},
      {},
      held};
  if (!result.steps.spans().empty()) {
    LeakSearch(replay, *held, result.steps, position).Run(&result);
  }
  return result;
}

uint64_t LeakSearchResult::ResidentBytes() const {
  uint64_t bytes =
      steps.spans().capacity() * sizeof(StepSpan) + held->ResidentBytes();
  for (const auto* found : {&leaks, &collections}) {
    for (const FoundLeak& leak : *found) {
      bytes += sizeof(leak) + leak.rows.capacity() * sizeof(Row) +
               leak.bytes_by_step.capacity() * sizeof(uint64_t);
    }
  }
  return bytes;
}

}  // namespace oom_forensics
