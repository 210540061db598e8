// Converts CUPTI's time stamps into the collector's clock, and says how far the
// result can be wrong.
//
// Both clocks are read in pairs: collector, CUPTI, collector. CUPTI's reading
// lies somewhere between the two others, so taking their middle is wrong by at
// most half their distance; of several pairs the tightest one counts.
//
//        collector  ----a---------b------->      offset = (a + b) / 2 - c
//        CUPTI      ------c--------------->      error  = (b - a) / 2
//
// With one pair at the start and one at the end of a recording the offset
// between them is interpolated, which takes out a drift of the clocks; the
// error that is stated is the larger of the two. Outside of the two pairs the
// nearer one is used as it is.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_CLOCK_CONVERTER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_CLOCK_CONVERTER_H_

#include <cstdint>
#include <functional>

namespace oom_forensics::cupti {

// One moment, seen on both clocks.
struct ClockPair {
  int64_t cupti_ns = 0;
  int64_t offset_ns = 0;  // collector - CUPTI
  int64_t error_ns = 0;   // the offset is right within this, either way
};

class ClockConverter {
 public:
  // A clock in nanoseconds; false: it cannot be read.
  using Clock = std::function<bool(int64_t* now_ns)>;

  // Reads `attempts` pairs and keeps the tightest one, which becomes the first
  // pair or, if there is one, replaces the last. False, and no pair, if a clock
  // cannot be read.
  bool AddPair(const Clock& collector, const Clock& cupti, int attempts = 16);

  // No pair yet: times are taken over unchanged, with an unknown error.
  bool calibrated() const { return pairs_ > 0; }

  int64_t ToCollector(int64_t cupti_ns) const;

  // Largest error of a converted time between the first and the last pair.
  int64_t error_ns() const;

  void Reset() { pairs_ = 0; }

 private:
  ClockPair first_;
  ClockPair last_;
  int pairs_ = 0;
};

// CLOCK_REALTIME, the collector's clock.
bool ReadCollectorClock(int64_t* now_ns);

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_CLOCK_CONVERTER_H_
