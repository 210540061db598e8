#include "collector/tensorflow/bfc_inspector.h"

#if !defined(__x86_64__)
#error "The calling convention of hidden results is that of x86-64."
#endif

#include <cstddef>

namespace oom_forensics::collector {
namespace {

// Larger than any message that TensorFlow returns here.
struct alignas(std::max_align_t) ResultBuffer {
  unsigned char bytes[1024];
};

}  // namespace

std::optional<BfcInspector> BfcInspector::Find(const TensorFlowLibrary& library,
                                               std::string* why) {
  BfcInspector inspector;
  bool complete = true;
  const auto find = [&](auto* function, const char* name) {
    *function =
        library.FunctionOf<std::remove_pointer_t<decltype(function)>>(name);
    if (*function == nullptr && complete) {
      complete = false;
      *why = std::string("TensorFlow does not export ") + name;
    }
  };
  find(&inspector.allocated_size_, "_ZNK3tsl12BFCAllocator13AllocatedSizeEPKv");
  find(&inspector.name_, "_ZN3tsl12BFCAllocator4NameB5cxx11Ev");
  find(&inspector.get_stats_, "_ZN3tsl12BFCAllocator8GetStatsEv");
  find(&inspector.record_memory_map_,
       "_ZN3tsl12BFCAllocator15RecordMemoryMapEv");
  find(&inspector.serialize_as_string_,
       "_ZNK6google8protobuf11MessageLite17SerializeAsStringB5cxx11Ev");
  find(&inspector.destroy_memory_dump_, "_ZN10tensorflow10MemoryDumpD1Ev");
  if (!complete) return std::nullopt;
  return inspector;
}

std::optional<AllocatorStatistics> BfcInspector::Statistics(
    void* allocator) const {
  return ReadStatistics(get_stats_, allocator);
}

std::string BfcInspector::MemoryDump(void* allocator) const {
  ResultBuffer message = {};
  record_memory_map_(&message, allocator);
  std::string serialized = serialize_as_string_(&message);
  destroy_memory_dump_(&message);
  return serialized;
}

}  // namespace oom_forensics::collector
