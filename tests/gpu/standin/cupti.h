// What the driver reports to CUPTI of its memory.
#ifndef OOM_FORENSICS_TESTS_GPU_STANDIN_CUPTI_H_
#define OOM_FORENSICS_TESTS_GPU_STANDIN_CUPTI_H_

#include <cstddef>
#include <cstdint>

#include "tests/gpu/standin/device.h"

namespace standin_gpu {

void RecordAllocation(const Device& device, uint64_t address, size_t bytes);
void RecordRelease(const Device& device, uint64_t address, size_t bytes);

}  // namespace standin_gpu

#endif  // OOM_FORENSICS_TESTS_GPU_STANDIN_CUPTI_H_
