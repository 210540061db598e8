#include "collector/python_bridge.h"

#include <dlfcn.h>

namespace oom_forensics::collector {
namespace {

// Of Python's stable ABI.
using IsInitialized = int (*)();
using AddPendingCall = int (*)(int (*function)(void*), void* argument);
using ImportModule = void* (*)(const char* name);
using DecRef = void (*)(void* object);
using ErrClear = void (*)();

template <typename Function>
Function Find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Called by Python, with its lock held.
int ImportActivation(void*) {
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

void ActivatePythonPart() {
  const auto is_initialized = Find<IsInitialized>("Py_IsInitialized");
  const auto add_pending_call = Find<AddPendingCall>("Py_AddPendingCall");
  if (is_initialized == nullptr || add_pending_call == nullptr ||
      is_initialized() == 0) {
    return;
  }
  add_pending_call(&ImportActivation, nullptr);
}

}  // namespace oom_forensics::collector
