// DeviceLog: the memory events of all CUDA devices of this process, in the
// order in which they arrived, up to a cap. What does not fit is counted.
//
// Events come from CUPTI's own thread, from the thread that grows a pool and
// from the one that met an out-of-memory: every function may be called from any
// thread. A driver allocation is rare (a pool's region, a library's workspace),
// so a mutex is cheap enough.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_LOG_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cupti/driver_event.h"

namespace oom_forensics::cupti {

class DeviceLog {
 public:
  // Everything up to a moment. Events of one device are not yet in the order
  // of time: CUPTI delivers them buffer by buffer.
  struct Contents {
    std::vector<DriverEvent> events;
    // strings[id - 1] is the string of an id.
    std::vector<std::string> strings;
    uint64_t dropped_events = 0;
    uint64_t unreadable_records = 0;
    uint64_t dropped_by_cupti = 0;
  };

  // 128 bytes an event: the default holds 8 MiB.
  static constexpr size_t kDefaultCapacity = size_t{1} << 16;

  explicit DeviceLog(size_t capacity = kDefaultCapacity);
  DeviceLog(const DeviceLog&) = delete;
  DeviceLog& operator=(const DeviceLog&) = delete;

  // Counts the event as dropped if the log is full.
  void Add(const DriverEvent& event);

  // The id of a string; 0 if it is empty or there are too many strings.
  StringId Intern(std::string_view text);

  // A record that is none of ours to read: too short, or of an operation that
  // is not known.
  void CountUnreadable();

  // Records that CUPTI itself had to drop, of whatever kind.
  void CountDroppedByCupti(uint64_t count);

  Contents Read() const;

  // Forgets all events and counts; ids of strings stay valid.
  void Clear();

 private:
  static constexpr size_t kMaxStrings = 4096;

  const size_t capacity_;
  mutable std::mutex mutex_;
  Contents contents_;
  std::map<std::string, StringId, std::less<>> ids_;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_LOG_H_
