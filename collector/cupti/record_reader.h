// Reads memory records out of the buffers that CUPTI fills.
//
// A buffer is a row of records of all the kinds that are enabled. CUPTI itself
// knows where the next one begins (cuptiActivityGetNextRecord); the distance to
// it is the size of a record. MEMORY2 and MEMORY_POOL records grew with CUPTI,
// always at their end:
//
//   MEMORY2      CUpti_ActivityMemory2      112 bytes
//                CUpti_ActivityMemory3      120, adds the pool's utilized size
//                CUpti_ActivityMemory4      128, adds the source (CUDA 12.6)
//   MEMORY_POOL  CUpti_ActivityMemoryPool    64 bytes
//                CUpti_ActivityMemoryPool2   72, adds the utilized size
//                CUpti_ActivityMemoryPool3   80, adds a flag (CUDA 13)
//
// So a field is read only if the record is long enough to hold it, whatever
// version wrote it. What cannot be read is counted, never guessed.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_RECORD_READER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_RECORD_READER_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "collector/cupti/device_log.h"

namespace oom_forensics::cupti {

// cuptiActivityGetNextRecord, or what stands in front of it.
using NextRecordFunction = CUptiResult (*)(void* self, uint8_t* buffer,
                                           size_t valid_bytes,
                                           CUpti_Activity** record);

// Where a walk over a buffer asks for the next record.
struct NextRecord {
  NextRecordFunction function = nullptr;
  // Handed through: the object, where the function is a member.
  void* self = nullptr;
};

// Reads one record of `size` bytes into `log`. Records of other kinds leave it
// unchanged. With `read_source` the record's source pointer is followed: only
// while the callback that brought the buffer runs, and only where
// cuptiActivityEnableAllocationSource has succeeded.
void ReadRecord(const CUpti_Activity* record, size_t size, bool read_source,
                DeviceLog& log);

// Reads all memory records of a completed buffer. The buffer is not changed.
void ReadBuffer(const NextRecord& next, uint8_t* buffer, size_t valid_bytes,
                bool read_source, DeviceLog& log);

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_RECORD_READER_H_
