// Where the virtual tables of classes that derive from tsl::Allocator hold its
// functions. tsl::BFCAllocator is such a class and exports what stands in which
// slot; by the C++ ABI the slots are the same in all others, those that export
// nothing among them.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_SLOTS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_SLOTS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "collector/library/tensorflow_library.h"

namespace oom_forensics::collector {

struct AllocatorSlots {
  // What `delete` calls.
  size_t destroy = 0;
  size_t name = 0;
  size_t allocate = 0;
  size_t allocate_with_attributes = 0;
  size_t deallocate = 0;
  // Newer versions tell the size, too; none where this TensorFlow does not.
  std::optional<size_t> deallocate_sized;
  size_t get_stats = 0;

  size_t highest() const;
};

// None if this TensorFlow's BFC allocator is not as expected. To be called
// before its table is changed.
std::optional<AllocatorSlots> FindAllocatorSlots(
    const TensorFlowLibrary& library);

// What was found of a class: its table, or, with no slots, why there is none to
// touch (": not in this TensorFlow").
struct AllocatorClass {
  VTable vtable;
  const char* why_not = "";
};

// The class with this mangled name, if it derives from tsl::Allocator and has
// all of `slots`. `is_exported` is false for one of an unnamed namespace.
AllocatorClass FindAllocatorClass(const TensorFlowLibrary& library,
                                  const AllocatorSlots& slots,
                                  const std::string& mangled_class,
                                  bool is_exported);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_SLOTS_H_
