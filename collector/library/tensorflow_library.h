// TensorFlowLibrary: the TensorFlow that is loaded in this process, and what it
// exports. The collector links nothing of TensorFlow; all it uses, it finds
// here by name. A name that is missing is not an error but an answer: what
// needs it stays untouched.
#ifndef OOM_FORENSICS_COLLECTOR_LIBRARY_TENSORFLOW_LIBRARY_H_
#define OOM_FORENSICS_COLLECTOR_LIBRARY_TENSORFLOW_LIBRARY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace oom_forensics::collector {

// A virtual table as exported: `slots` points behind the offset-to-top and the
// type info, where objects point to.
struct VTable {
  void** slots = nullptr;
  size_t slot_count = 0;
};

class TensorFlowLibrary {
 public:
  // libtensorflow_framework.so.2: allocators and the base of everything.
  static constexpr const char* kFramework = "libtensorflow_framework.so.2";
  // libtensorflow_cc.so.2: the rest, the GPU tracer too.
  static constexpr const char* kImplementation = "libtensorflow_cc.so.2";

  // The library of this process with that name; none if it is not loaded.
  static std::optional<TensorFlowLibrary> Find(const char* name = kFramework);

  // The address of an exported symbol that this very library defines; null if
  // there is none.
  void* Symbol(const char* mangled_name) const;

  // Symbol() as a pointer to function.
  template <typename Function>
  Function FunctionOf(const char* mangled_name) const {
    return reinterpret_cast<Function>(Symbol(mangled_name));
  }

  // The virtual table of the class with this mangled name ("N3tsl12Foo...E").
  // No slots if it is not exported, or does not look as the C++ ABI says: its
  // type info must be that of the class.
  VTable FindVTable(const std::string& mangled_class) const;

  // Whether the class of `vtable` has, through single inheritance only, the
  // class with this mangled name as a base: the slots of the base are then the
  // first of its own.
  bool DerivesSinglyFrom(const VTable& vtable,
                         const std::string& mangled_base) const;

  // As FindVTable(), of a class that is not exported (of an unnamed namespace):
  // searched for in the library's constant data by its type information, whose
  // only base must be the exported class `base`. Has the slots of the base.
  VTable FindHiddenVTable(const std::string& mangled_class,
                          const std::string& mangled_base) const;

  // Where the library keeps the address that its own calls of `function`, an
  // exported function of it, go through; as a table of that one slot. No slot
  // if its calls do not go through one.
  VTable FindCallSlot(const void* function) const;

  // The machine code of an exported function; empty if there is none or its
  // size is not known.
  std::basic_string_view<unsigned char> CodeOf(const char* mangled_name) const;

  // "2.21.0"; empty if TensorFlow does not say.
  std::string Version() const;

 private:
  explicit TensorFlowLibrary(void* handle, void* link_map)
      : handle_(handle), link_map_(link_map) {}

  // The handle from dlopen(). It is never closed, as TensorFlow stays loaded.
  void* handle_;
  void* link_map_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIBRARY_TENSORFLOW_LIBRARY_H_
