// At the border to C, to a thread's begin or to fork(): no exception may cross
// it. What throws here is memory that is short; it costs what was asked for,
// never the job.
#ifndef OOM_FORENSICS_COLLECTOR_NO_THROW_H_
#define OOM_FORENSICS_COLLECTOR_NO_THROW_H_

namespace oom_forensics::collector {

// What `function` returns, or `otherwise` if it throws.
template <typename Function, typename Result>
Result NoThrow(Function function, Result otherwise) noexcept {
  try {
    return function();
  } catch (...) {
    return otherwise;
  }
}

// Calls `function`, which returns nothing; whether it came to its end.
template <typename Function>
bool NoThrow(Function function) noexcept {
  try {
    function();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_NO_THROW_H_
