// Python's lock, which a thread that waits inside of TensorFlow may hold:
// `tf.constant(array)` allocates with it. Python's functions are found in the
// process by name; nothing here is done where one of them is missing.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_GIL_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_GIL_H_

#include <cstdint>

namespace oom_forensics::collector::python {

// The calling thread's PyThreadState; null: Python does not know the thread.
void* ThisThreadState() noexcept;

// What Python's `threading.get_ident()` is in the calling thread; 0: Python
// does not know it.
uint64_t ThisPythonThread() noexcept;

// While it lives, other threads can run Python, even if the calling thread
// holds Python's lock. Must not be made while the interpreter ends.
class ReleasedGil {
 public:
  ReleasedGil() noexcept;
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  // The thread's state to take the lock again with; null: it was not held.
  void* state_ = nullptr;
};

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_GIL_H_
