// Two ways to read memory of this process: DirectMemory simply reads.
// CheckedMemory asks the kernel to, which says no where there is nothing: so a
// layout can be tried of which it is not known whether it is right.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_MEMORY_ACCESS_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_MEMORY_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oom_forensics::collector::python {

class DirectMemory {
 public:
  // Always true.
  bool Read(uint64_t address, void* to, size_t bytes) const {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

class CheckedMemory {
 public:
  CheckedMemory();
  ~CheckedMemory();
  CheckedMemory(const CheckedMemory&) = delete;
  CheckedMemory& operator=(const CheckedMemory&) = delete;

  // False: not all of it can be read.
  bool Read(uint64_t address, void* to, size_t bytes) const;

 private:
  // A pipe: writing to it copies out of this process's memory, and fails where
  // that is not there. -1: none could be had, and nothing can be read.
  int read_end_ = -1;
  int write_end_ = -1;
};

// One value of type T; false: it cannot be read.
template <typename T, typename Memory>
bool ReadValue(const Memory& memory, uint64_t address, T* value) {
  return memory.Read(address, value, sizeof(T));
}

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_MEMORY_ACCESS_H_
