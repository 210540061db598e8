// A stand-in for libcupti where there is no GPU: the calls that a tracer makes,
// under CUPTI's own names and with CUPTI's own rules. Without a driver the real
// one refuses cuptiActivityEnable, so what follows from it cannot be run there.
//
// Rules that it keeps, as CUDA 12's CUPTI has them:
//   - one subscriber per process, the second one is refused;
//   - one pair of activity callbacks per process, the last one registered;
//   - records of a kind that is not enabled are not written;
//   - a buffer goes to the callback registered when it is completed, not to
//     the one registered when it was asked for;
//   - cuptiFinalize forgets everything.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_CUPTI_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_CUPTI_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace oom_forensics::cupti::testing {

// What a driver would do: writes the record if its kind is enabled.
void EmitRecord(const void* record, size_t size);

// From now on cuptiActivityEnable(kind) answers `result`.
void RefuseKind(CUpti_ActivityKind kind, CUptiResult result);

// CUPTI had no buffer for `count` records.
void LoseRecords(size_t count);

bool IsEnabled(CUpti_ActivityKind kind);
bool HasSubscriber();
bool TracksAllocationSource();

// CUPTI's clock - CLOCK_REALTIME.
void SetClockOffset(int64_t offset_ns);

// Forgets everything, refusals and clock too.
void ResetStandinCupti();

// Shorthand for the records of a test.
void EmitAllocation(uint64_t address, uint64_t bytes,
                    const char* source = nullptr);
void EmitRelease(uint64_t address, uint64_t bytes);
void EmitPoolCreated(uint64_t address);
void EmitKernel();

}  // namespace oom_forensics::cupti::testing

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_CUPTI_H_
