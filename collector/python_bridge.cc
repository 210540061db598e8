#include "collector/python_bridge.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace oom_forensics::collector {
namespace {

// Of Python's stable ABI.
using IsInitialized = int (*)();
using AddPendingCall = int (*)(int (*function)(void*), void* argument);
using ImportModule = void* (*)(const char* name);
using DecRef = void (*)(void* object);
using ErrClear = void (*)();
using EnsureLock = int (*)();
using ReleaseLock = void (*)(int state);

template <typename Function>
Function Find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Called by Python, with its lock held.
int ImportActivation(void* first) {
  if (first != nullptr) reinterpret_cast<void (*)()>(first)();
  const auto import_module = Find<ImportModule>("PyImport_ImportModule");
  const auto dec_ref = Find<DecRef>("Py_DecRef");
  const auto clear = Find<ErrClear>("PyErr_Clear");
  if (import_module == nullptr || dec_ref == nullptr || clear == nullptr) {
    return 0;
  }
  void* module = import_module("oom_forensics.in_training.activation");
  if (module != nullptr) {
    dec_ref(module);
  } else {
    // The package is not there or not whole: the recorder works without it.
    clear();
  }
  return 0;
}

}  // namespace

void ActivatePythonPart(void (*first)()) {
  void* const argument = reinterpret_cast<void*>(first);
  const auto is_initialized = Find<IsInitialized>("Py_IsInitialized");
  const auto add_pending_call = Find<AddPendingCall>("Py_AddPendingCall");
  if (is_initialized == nullptr || add_pending_call == nullptr ||
      is_initialized() == 0) {
    return;
  }
  if (syscall(SYS_gettid) == getpid()) {
    add_pending_call(&ImportActivation, argument);
    return;
  }
  // Python's main thread may wait for this one until the process ends, and
  // would never get to it.
  const auto ensure = Find<EnsureLock>("PyGILState_Ensure");
  const auto release = Find<ReleaseLock>("PyGILState_Release");
  if (ensure == nullptr || release == nullptr) return;
  const int state = ensure();
  ImportActivation(argument);
  release(state);
}

}  // namespace oom_forensics::collector
