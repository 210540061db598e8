// UsageTrend: how fast an allocator's use grows, by a straight line through its
// last samples (ordinary least squares).
#ifndef OOM_FORENSICS_COLLECTOR_LIVE_USAGE_TREND_H_
#define OOM_FORENSICS_COLLECTOR_LIVE_USAGE_TREND_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace oom_forensics::collector {

class UsageTrend {
 public:
  // Two minutes of a sample a second.
  static constexpr size_t kMaxSamples = 120;
  // Fewer say nothing.
  static constexpr size_t kMinSamples = 8;

  void Add(int64_t time_ns, uint64_t in_use_bytes);

  // Growth in bytes per second; nothing where it cannot be told from the ups
  // and downs within steps: where 0 lies inside the slope's 95 % confidence
  // interval, or below it.
  std::optional<double> BytesPerSecond() const;

  // Seconds until `limit_bytes` are in use if it goes on so; nothing where it
  // does not grow, or the limit is 0: not known.
  std::optional<double> SecondsUntil(uint64_t limit_bytes) const;

 private:
  struct Sample {
    double seconds;
    double bytes;
  };
  std::deque<Sample> samples_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIVE_USAGE_TREND_H_
