// PythonEvidence: has Python look at an out-of-memory, in a thread of its own,
// while the threads that asked for memory stand still. Only Python knows the
// user's lines of what a graph runs, who keeps a tensor, and what the rest of
// the step would have needed.
//
// Nobody waits for Python without a limit: where its lock is not to be had, or
// a look does not end, the run is written without.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_PYTHON_EVIDENCE_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_PYTHON_EVIDENCE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "collector/recording/recording.h"

namespace oom_forensics::collector {

class PythonEvidence {
 public:
  // Python's function. It takes Python's lock itself, calls Add() with what it
  // finds, and returns. `question` is a JSON object: "incident", "trace" (a
  // file to read), "address_shift", "op", "shape", "dtype", "eager",
  // "step_id", "allocator", "thread" (threading.get_ident(), 0: not known) and
  // "limit_seconds".
  using Look = void (*)(const char* question);

  // From now on Python can be asked; null: not any more. Waits, a moment, for
  // a look that is under way. The caller must not hold Python's lock.
  void SetLook(Look look);
  bool CanLook();

  // Begins to look at `request`, whose trace so far is `xspace`. Returns a
  // sentence where that is not possible, else nothing.
  std::string Begin(uint64_t incident, const RefusedRequest& request,
                    const std::string& xspace, uint64_t address_shift,
                    double limit_seconds);

  // Python has found planes (a serialized XSpace). False: nobody wants to know
  // any more, and what else is under way can be left.
  bool Add(uint64_t incident, std::string_view planes);

  // Whether the look at the incident has ended; waits for it until `end`.
  bool WaitForEnd(uint64_t incident, std::chrono::steady_clock::time_point end);

  // What was found so far. Nothing more is wanted.
  std::string Take(uint64_t incident);

  void AfterForkInChild();

 private:
  // The thread. Python may end it by unwinding its stack, which nothing here
  // must stop.
  void LookAt(const std::string& question, int trace);

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  Look look_ = nullptr;
  // A thread is in Python.
  bool looks_ = false;
  // The incident that is, or was last, looked at; 0: what comes is not wanted.
  uint64_t incident_ = 0;
  std::string planes_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_PYTHON_EVIDENCE_H_
