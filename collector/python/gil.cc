#include "collector/python/gil.h"

#include <dlfcn.h>
#include <pthread.h>

namespace oom_forensics::collector::python {
namespace {

struct Functions {
  // The state of the calling thread, and that of the thread that holds the
  // lock (from 3.12 on: of the calling thread if it holds it).
  void* (*this_thread)() = nullptr;
  void* (*holder)() = nullptr;
  void* (*save)() = nullptr;
  void (*restore)(void* state) = nullptr;
};

template <typename Function>
void Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

const Functions& Python() noexcept {
  static const Functions functions = [] {
    Functions found;
    Find("PyGILState_GetThisThreadState", &found.this_thread);
    Find("_PyThreadState_UncheckedGet", &found.holder);
    if (found.holder == nullptr) {
      Find("PyThreadState_GetUnchecked", &found.holder);
    }
    Find("PyEval_SaveThread", &found.save);
    Find("PyEval_RestoreThread", &found.restore);
    return found;
  }();
  return functions;
}

}  // namespace

void* ThisThreadState() noexcept {
  const Functions& python = Python();
  return python.this_thread == nullptr ? nullptr : python.this_thread();
}

uint64_t ThisPythonThread() noexcept {
  return ThisThreadState() == nullptr ? 0
                                      : static_cast<uint64_t>(pthread_self());
}

ReleasedGil::ReleasedGil() noexcept {
  const Functions& python = Python();
  if (python.holder == nullptr || python.save == nullptr ||
      python.restore == nullptr) {
    return;
  }
  // PyGILState_Check() answers yes to anyone once there are subinterpreters.
  void* const mine = ThisThreadState();
  if (mine != nullptr && mine == python.holder()) state_ = python.save();
}

ReleasedGil::~ReleasedGil() {
  if (state_ != nullptr) Python().restore(state_);
}

}  // namespace oom_forensics::collector::python
