// OwnCupti: CUPTI's memory records for the collector alone, while TensorFlow's
// tracer does not trace. It steps back before TensorFlow takes CUPTI (Yield)
// and comes back after (Start again), which also re-arms it after a
// cuptiFinalize: that one forgets callbacks and enabled kinds.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_OWN_CUPTI_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_OWN_CUPTI_H_

#include <mutex>
#include <optional>
#include <string>

#include "collector/cupti/clock_converter.h"
#include "collector/cupti/cupti_library.h"
#include "collector/cupti/device_log.h"

namespace oom_forensics::cupti {

class OwnCupti {
 public:
  // Records go to `log`, which must outlive all buffers.
  explicit OwnCupti(DeviceLog* log) : log_(log) {}

  // Registers callbacks and enables MEMORY2 and MEMORY_POOL. Empty: it runs.
  // Else why not, half a sentence; nothing stays enabled then.
  std::string Start(const CuptiLibrary& library, bool allocation_source);

  // Has CUPTI give back what it holds, stops recording, and leaves CUPTI free
  // for TensorFlow. Nothing to do if it does not run.
  void Yield();

  // TensorFlow has finalized CUPTI: nothing is enabled any more.
  void Forget();

  // Brings in what CUPTI has recorded so far.
  void Flush();

  bool running() const;
  // From CUPTI's clock to the collector's; read at Start, Flush and Yield.
  ClockConverter clock() const;

 private:
  void ReadClocks();

  DeviceLog* const log_;
  mutable std::mutex mutex_;
  std::optional<CuptiLibrary> library_;
  ClockConverter clock_;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_OWN_CUPTI_H_
