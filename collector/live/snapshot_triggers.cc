#include "collector/live/snapshot_triggers.h"

#include "core/size_text.h"

namespace oom_forensics::collector {
namespace {

// A peak that exceeds the last one by less is no new one.
constexpr double kNewPeak = 1.05;

}  // namespace

std::string SnapshotTriggers::DueAt(const TriggerSettings& settings,
                                    const std::vector<AllocatorState>& states) {
  std::string why;
  for (const AllocatorState& state : states) {
    if (!state.has_events || !state.statistics.has_value()) continue;
    const AllocatorStatistics& now = *state.statistics;
    const std::string name = FullName(state.info);
    const auto [found, is_first] = seen_.try_emplace(name);
    Seen& seen = found->second;

    const bool is_near_limit =
        settings.limit_share > 0 && now.limit_bytes != 0 &&
        static_cast<double>(now.peak_bytes_in_use) >=
            settings.limit_share * static_cast<double>(now.limit_bytes);
    if (is_near_limit && !seen.is_near_limit &&
        near_limit_count_ < kMaxOfKind) {
      ++near_limit_count_;
      why = name + " had " + FormatBytes(now.peak_bytes_in_use) + " of " +
            FormatBytes(now.limit_bytes) + " in use";
    }
    seen.is_near_limit = is_near_limit;

    if (!is_first && settings.new_peak &&
        new_peak_count_<kMaxOfKind&& static_cast<double>(now.peak_bytes_in_use)>
                kNewPeak *
            static_cast<double>(seen.peak_bytes)) {
      ++new_peak_count_;
      why = name + " had a new peak of " + FormatBytes(now.peak_bytes_in_use);
    }
    seen.peak_bytes = now.peak_bytes_in_use;

    const bool grew = !is_first && now.bytes_in_use > seen.begin_bytes;
    seen.grown_steps = grew ? seen.grown_steps + 1 : 0;
    seen.begin_bytes = now.bytes_in_use;
    if (settings.growth_steps != 0 &&
        seen.grown_steps >= settings.growth_steps &&
        growth_count_ < kMaxOfKind) {
      ++growth_count_;
      seen.grown_steps = 0;
      why = name + " grew in " + std::to_string(settings.growth_steps) +
            " steps in a row, to " + FormatBytes(now.bytes_in_use);
    }
  }
  return why;
}

}  // namespace oom_forensics::collector
