#include "converter/forensics/leak_finder.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/forensics/keepers.h"

namespace oom_forensics {
namespace {

// Part of the finished siblings that must have gone within a step.
constexpr double kMinShortLivedShare = 0.9;
// A survivor has lived so many times as many steps as any sibling did.
constexpr int64_t kSurvivorFactor = 4;
// Constants that are made once for a graph and kept with it are smaller.
constexpr uint64_t kMinSurvivorBytes = 4096;

// What allocations of one op, shape and dtype did.
struct SiteHistory {
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
  LeakSearch(const AllocatorReplay& replay, const StepIndex& steps,
             Position position)
      : replay_(replay), steps_(steps), position_(position) {}

  std::vector<FoundLeak> Run() {
    GroupSites();
    FindLive();
    ReadHistory();
    std::vector<FoundLeak> leaks;
    for (const SiteHistory& history : histories_) {
      if (history.live.empty()) continue;
      std::optional<FoundLeak> leak = Growth(history);
      if (!leak.has_value()) leak = Survivors(history);
      if (leak.has_value() && !IsTaped(*leak)) {
        leaks.push_back(*std::move(leak));
      }
    }
    std::sort(leaks.begin(), leaks.end(),
              [](const FoundLeak& a, const FoundLeak& b) {
                return std::make_tuple(b.live_bytes, a.rows.front()) <
                       std::make_tuple(a.live_bytes, b.rows.front());
              });
    return leaks;
  }

 private:
  // A tape at work keeps what it needs for the backward pass.
  bool IsTaped(const FoundLeak& leak) const {
    return 2 * RowsOnTape(replay_, leak.rows).size() > leak.rows.size();
  }

  void GroupSites() {
    const SiteTable& sites = replay_.host().sites;
    absl::flat_hash_map<std::tuple<StringId, StringId, int32_t>, size_t> groups;
    group_of_.resize(sites.size());
    for (SiteId id = 0; id < sites.size(); ++id) {
      const AllocationSite& site = sites.Get(id);
      group_of_[id] =
          groups
              .try_emplace(std::make_tuple(site.op, site.shape, site.dtype),
                           groups.size())
              .first->second;
    }
    histories_.resize(groups.size());
  }

  // What holds nothing is no leak: only groups that do are followed.
  void FindLive() {
    std::vector<Row> live = replay_.LiveAt(position_);
    std::sort(live.begin(), live.end());
    for (const Row row : live) HistoryOf(row).live.push_back(row);
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
    // Of the row in hand.
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
    leak.rows = std::move(rows);
    for (const Row row : leak.rows) leak.live_bytes += replay_.BytesOf(row);
    leak.bytes_by_step = BytesByStep(history);
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
    return leak;
  }

  std::optional<FoundLeak> Survivors(const SiteHistory& history) const {
    if (history.finished < kMinSiblings ||
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
  const StepIndex& steps_;
  const Position position_;
  // By site.
  std::vector<size_t> group_of_;
  std::vector<bool> is_followed_;
  std::vector<SiteHistory> histories_;
};

}  // namespace

LeakSearchResult FindLeaks(const AllocatorReplay& replay, Position position) {
  StepIndex steps(replay, position);
  std::vector<FoundLeak> leaks;
  if (!steps.spans().empty()) {
    leaks = LeakSearch(replay, steps, position).Run();
  }
  return {std::move(steps), std::move(leaks)};
}

uint64_t LeakSearchResult::ResidentBytes() const {
  uint64_t bytes = steps.spans().capacity() * sizeof(StepSpan);
  for (const FoundLeak& leak : leaks) {
    bytes += sizeof(leak) + leak.rows.capacity() * sizeof(Row) +
             leak.bytes_by_step.capacity() * sizeof(uint64_t);
  }
  return bytes;
}

}  // namespace oom_forensics
