#include "converter/exports/html/page_moments.h"

#include <algorithm>
#include <set>

namespace oom_forensics {
namespace {

// 0, 1, ... count - 1 in an order whose beginnings are spread evenly: the ends,
// the middle, the quarters, the eighths, ...
std::vector<size_t> CoarseToFine(size_t count) {
  std::vector<size_t> order;
  std::vector<bool> taken(count);
  const auto take = [&](size_t index) {
    if (index < count && !taken[index]) order.push_back(index);
    if (index < count) taken[index] = true;
  };
  if (count == 0) return order;
  take(0);
  take(count - 1);
  for (size_t parts = 2; order.size() < count; parts *= 2) {
    for (size_t part = 1; part < parts; part += 2) {
      take(part * (count - 1) / parts);
    }
    if (parts > 2 * count) {
      for (size_t index = 0; index < count; ++index) take(index);
    }
  }
  return order;
}

std::vector<Moment> StepPeaks(const Steps& steps) {
  std::set<int64_t> numbers;
  for (const StepUse& use : steps.steps()) numbers.insert(use.step().step());
  const std::vector<int64_t> all(numbers.begin(), numbers.end());
  const size_t count = std::min(all.size(), kMaxStoredSteps);
  std::vector<Moment> moments;
  for (const size_t index : CoarseToFine(count)) {
    // Ends to ends: the first step and the last are always among them.
    const size_t step = count < 2 ? 0 : index * (all.size() - 1) / (count - 1);
    moments.emplace_back().set_step(all[step]);
  }
  return moments;
}

// The position after the first event: what was there before it has no time.
Position FirstOf(const AllocatorReplay& replay) {
  return std::min(replay.trace().baseline_rows + 1, replay.end_position());
}

int64_t TimeAfterShareOfTime(double share, const SelectedAllocator& allocator) {
  const AllocatorReplay& replay = *allocator.replay;
  const int64_t first_ps = replay.TimePsOf(FirstOf(replay));
  const int64_t last_ps = replay.TimePsOf(replay.end_position());
  const double passed_ps = share * static_cast<double>(last_ps - first_ps);
  return allocator.host->trace().ToNs(first_ps +
                                      static_cast<int64_t>(passed_ps));
}

int64_t TimeAfterShareOfEvents(double share,
                               const SelectedAllocator& allocator) {
  const AllocatorReplay& replay = *allocator.replay;
  const Position first = FirstOf(replay);
  const double passed =
      share * static_cast<double>(replay.end_position() - first);
  return allocator.host->trace().ToNs(
      replay.TimePsOf(first + static_cast<Position>(passed)));
}

// Evenly by time, so that a pause is seen, and by events, so that what happens
// between two pauses is.
std::vector<Moment> Samples(const SelectedAllocator& allocator) {
  std::vector<Moment> moments;
  std::set<int64_t> times;
  const auto add = [&](int64_t time_ns) {
    if (times.insert(time_ns).second) {
      moments.emplace_back().set_time_ns(time_ns);
    }
  };
  constexpr size_t kEach = kMaxStoredSamples / 2;
  for (const size_t index : CoarseToFine(kEach)) {
    const double share =
        static_cast<double>(index) / static_cast<double>(kEach - 1);
    add(TimeAfterShareOfTime(share, allocator));
    add(TimeAfterShareOfEvents(share, allocator));
  }
  return moments;
}

}  // namespace

std::vector<Moment> FirstMoments(const std::vector<int32_t>& ooms) {
  std::vector<Moment> moments;
  for (size_t i = 0; i < std::min(ooms.size(), kMaxStoredOoms); ++i) {
    moments.emplace_back().set_oom(ooms[i]);
  }
  moments.emplace_back().set_peak(true);
  moments.emplace_back().set_end(true);
  return moments;
}

std::vector<Moment> FurtherMoments(const SelectedAllocator& allocator,
                                   const Steps& steps) {
  const std::vector<Moment> peaks = StepPeaks(steps);
  const std::vector<Moment> samples = Samples(allocator);
  std::vector<Moment> moments;
  for (size_t i = 0; i < std::max(peaks.size(), samples.size()); ++i) {
    if (i < peaks.size()) moments.push_back(peaks[i]);
    if (i < samples.size()) moments.push_back(samples[i]);
  }
  return moments;
}

}  // namespace oom_forensics
