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
