// SpinLock: the lock of the hook's fast path. Held for tens of nanoseconds, by
// code that neither blocks nor calls out. It has no owner and no destructor,
// so that it can be held across fork() and released on both sides.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_SPIN_LOCK_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace oom_forensics::collector {

class SpinLock {
 public:
  void lock() noexcept {
    int spins = 0;
    while (locked_.exchange(true, std::memory_order_acquire)) {
      while (locked_.load(std::memory_order_relaxed)) {
        // The holder was preempted: let it run.
        if (++spins >= kSpinsBeforeYield) {
          sched_yield();
          spins = 0;
        }
      }
    }
  }

  // As lock(); but once `stop` is set it does not wait any longer, and returns
  // false.
  bool lock_unless(const std::atomic<bool>& stop) noexcept {
    int spins = 0;
    while (!try_lock()) {
      if (stop.load(std::memory_order_relaxed)) return false;
      if (++spins >= kSpinsBeforeYield) {
        sched_yield();
        spins = 0;
      }
    }
    return true;
  }

  bool try_lock() noexcept {
    return !locked_.load(std::memory_order_relaxed) &&
           !locked_.exchange(true, std::memory_order_acquire);
  }

  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpinsBeforeYield = 128;
  std::atomic<bool> locked_{false};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_SPIN_LOCK_H_
