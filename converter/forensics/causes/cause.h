// What stands behind an out-of-memory, where the trace shows it: finer than the
// verdict's kind, with the bytes that are to be put down to it and, where there
// is one, a remedy of its own. One file for each.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/oom_case/oom_case.h"

namespace oom_forensics {

// Name of the one that every further round makes worse.
inline constexpr char kOlderModels[] = "older_models";

// Name of the one in an input pipeline. Where it grows it comes to an end by
// itself.
inline constexpr char kPipelineBuffer[] = "pipeline_buffer";

// Kind of verdict of the causes that lie in how the pool grew.
inline constexpr char kGrowthRegions[] = "GROWTH_REGIONS";

struct Cause {
  // Stable name, that of its evidence: "kept_iterations", "older_models", ...
  std::string name;
  // The kind of verdict that it is a case of: "CAPACITY", "RETAINED".
  std::string kind;
  // Live bytes that are there because of it.
  uint64_t bytes = 0;
  // For a person, with the numbers in it.
  std::string sentence;
  std::optional<RemedyCandidate> remedy;
};

// Each is nothing where the trace has no evidence for it.
//
// A loop keeps what each of its iterations computed for the backward pass.
std::optional<Cause> FindKeptIterations(const OomCase& oom);
// A large variable lies there several times: slots, dense gradient.
std::optional<Cause> FindLargeVariable(const OomCase& oom);
// Several replicas of the model share the pool.
std::optional<Cause> FindReplicas(const OomCase& oom);
// Much came from NumPy as it is: a whole data set, say.
std::optional<Cause> FindHostData(const OomCase& oom);
// The program makes anew what it still holds from before: models of earlier
// rounds.
std::optional<Cause> FindOlderModels(const OomCase& oom);
// A loop runs under one gradient tape.
std::optional<Cause> FindTapedRounds(const OomCase& oom);
// shuffle() or cache() of an input pipeline keeps elements.
std::optional<Cause> FindPipelineBuffer(const OomCase& oom);
// The input pipeline has made batches ahead of the steps.
std::optional<Cause> FindPrefetchedBatches(const OomCase& oom);
// predict() does several steps in one call.
std::optional<Cause> FindStepsInOneCall(const OomCase& oom);
// The pool grew for smaller steps than this one.
std::optional<Cause> FindFirstStepRegions(const OomCase& oom);
// A function is traced anew and anew, and its traces keep their constants.
std::optional<Cause> FindRetracing(const OomCase& oom);
// What an attempt made that ended in an earlier OOM is still held.
std::optional<Cause> FindFailedAttempt(const OomCase& oom);

// Whether so many bytes are at least that share of what is in use.
bool IsShareOfUse(const OomCase& oom, uint64_t bytes, double share);

// All that apply, the largest first.
std::vector<Cause> FindCauses(const OomCase& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_
