// TensorFlow's two libraries as one: what is in which differs between the
// wheels for CPUs and for GPUs.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_LIBRARIES_H_
#define OOM_FORENSICS_COLLECTOR_XLA_LIBRARIES_H_

#include <string>

#include "collector/library/tensorflow_library.h"

namespace oom_forensics::collector {

struct TensorFlowLibraries {
  TensorFlowLibrary framework;
  // Holds XLA's compilers and executables.
  TensorFlowLibrary implementation;

  // The address of an exported symbol of either; null if there is none.
  void* Symbol(const char* mangled_name) const {
    void* const address = implementation.Symbol(mangled_name);
    return address != nullptr ? address : framework.Symbol(mangled_name);
  }

  // Makes *function point to Symbol(); false if there is none.
  template <typename Function>
  bool Find(const char* mangled_name, Function** function) const {
    *function = reinterpret_cast<Function*>(Symbol(mangled_name));
    return *function != nullptr;
  }

  VTable FindVTable(const std::string& mangled_class) const {
    const VTable vtable = implementation.FindVTable(mangled_class);
    return vtable.slots != nullptr ? vtable
                                   : framework.FindVTable(mangled_class);
  }
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_LIBRARIES_H_
