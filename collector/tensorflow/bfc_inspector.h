// BfcInspector: asks a tsl::BFCAllocator about itself through its own exported
// functions. Each of them takes the allocator's lock, so none may be called
// from inside the allocator, nor under a lock of the recorder.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_INSPECTOR_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_INSPECTOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "collector/library/tensorflow_library.h"
#include "collector/recording/allocator_statistics.h"
#include "collector/tensorflow/statistics_reader.h"

namespace oom_forensics::collector {

class BfcInspector {
 public:
  // None if a function is missing; `why` is then a sentence.
  static std::optional<BfcInspector> Find(const TensorFlowLibrary& library,
                                          std::string* why);

  // Bytes of the chunk at `address`, which must be allocated: TensorFlow ends
  // the process otherwise.
  uint64_t AllocatedSize(const void* allocator, const void* address) const {
    return allocated_size_(allocator, address);
  }

  std::string Name(void* allocator) const { return name_(allocator); }

  // None if the answer does not look as this collector knows it.
  std::optional<AllocatorStatistics> Statistics(void* allocator) const;

  // The chunk map, a serialised tensorflow.MemoryDump.
  std::string MemoryDump(void* allocator) const;

 private:
  BfcInspector() = default;

  size_t (*allocated_size_)(const void* self, const void* address);
  std::string (*name_)(void* self);
  GetStats get_stats_;
  // Returns an object of TensorFlow by value: by the System V ABI the caller
  // passes the address of the result as a hidden first argument.
  void* (*record_memory_map_)(void* result, void* self);
  std::string (*serialize_as_string_)(const void* self);
  void (*destroy_memory_dump_)(void* self);
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_INSPECTOR_H_
