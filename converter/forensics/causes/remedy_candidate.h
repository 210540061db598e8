// A remedy before it is known whether it is enough.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_CANDIDATE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_CANDIDATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "converter/forensics/oom_case/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Remedy.kind of those that stop a growth: of each step, of each round.
inline constexpr char kReleaseLeak[] = "release_leak";
inline constexpr char kReleaseModels[] = "release_models";
inline constexpr char kReleaseCollection[] = "release_collection";
inline constexpr char kPreallocate[] = "preallocate";
inline constexpr char kSmallerPipelineBuffer[] = "smaller_pipeline_buffer";
inline constexpr char kStopRetracing[] = "stop_retracing";
// Those that a forecast of the step can grade.
inline constexpr char kSmallerBatch[] = "smaller_batch";
inline constexpr char kLargerLimit[] = "larger_limit";

struct RemedyCandidate {
  // kind, title, detail and code; the rest is set when it is tried.
  Remedy remedy;
  // What it changes; unset: it cannot be tried in the model, and the remedy's
  // sufficiency and proof are set already.
  std::optional<Scenario> scenario;
  // The scenario is a guess at what TensorFlow would make of the remedy, not
  // what it is known to do: nothing can be promised.
  bool is_estimate = false;
};

// Each is nothing where the trace has no evidence for it.
//
// What lies in memory:
std::optional<RemedyCandidate> ReleasePins(const OomCase& oom);
std::optional<RemedyCandidate> CheckpointGradients(const OomCase& oom);
// How large it is:
std::optional<RemedyCandidate> SmallerBatch(const OomCase& oom);
std::optional<RemedyCandidate> Float32(const OomCase& oom);
std::optional<RemedyCandidate> MixedPrecision(const OomCase& oom);
// What XLA asks for:
std::optional<RemedyCandidate> RecomputeInBlock(const OomCase& oom);
std::optional<RemedyCandidate> JitCompileOff(const OomCase& oom);
std::optional<RemedyCandidate> CompileOnce(const OomCase& oom);
// Who else is on the device:
std::optional<RemedyCandidate> FreeDevice(const OomCase& oom);
// How the allocator is set:
std::optional<RemedyCandidate> LargerLimit(const OomCase& oom);
std::optional<RemedyCandidate> MemoryGrowthOff(const OomCase& oom);
std::optional<RemedyCandidate> CudaMallocAsync(const OomCase& oom);

// Grades a remedy by the whole step in the pool that it would have met; false
// where the step is not known, or not what the remedy makes of it.
bool GradeByStep(const OomCase& oom, RemedyCandidate* candidate);

// The program trains: ops of a backward pass were recorded.
bool ComputesGradients(const OomCase& oom);
// The step does not: its graph is known, and has no backward pass.
bool IsInference(const OomCase& oom);

// The scenario, and what the rest of the step is known to need.
Scenario WithRestOfStep(const OomCase& oom, Scenario scenario);

// The same; and where nothing tells of the rest of the step, room for as much
// again as the step holds. That it needs so much is not known: what is named
// then should not die of the next request, and is graded REQUEST_FITS.
Scenario WithRoomForStep(const OomCase& oom, Scenario scenario);

// That these allocations were never made, and the rest of the step.
Scenario WithoutRows(const OomCase& oom, absl::flat_hash_set<Row> rows);

// Bytes that the scenario gives back of what was live at the failure.
uint64_t FreedBytes(const OomCase& oom, const Scenario& scenario);

// The line that most bytes of these allocations are told by; kNoLine where it
// is not recorded.
LineId DominantLine(const AllocatorReplay& replay,
                    const std::vector<Row>& rows);

// Sets `line` and `keeper` of a remedy that concerns these allocations, as far
// as they are recorded.
void PointToSource(const OomCase& oom, const std::vector<Row>& rows,
                   Remedy* remedy);

// "encoder/dense/Relu [256,2048] float32"
std::string DescribeSite(const HostTrace& host, const AllocationSite& site);

// Part of the memory in use below which a remedy is not worth its trouble.
inline constexpr double kMinRemedyShare = 0.05;
bool IsWorthIt(const OomCase& oom, uint64_t bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_CANDIDATE_H_
