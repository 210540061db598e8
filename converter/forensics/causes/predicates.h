// The predicates that causes.cc has in its table, and what they share.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_PREDICATES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_PREDICATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/forensics/causes/cause.h"

namespace oom_forensics {

// Each is nothing where the trace has no evidence for it.
//
// What grows, or is collected (growth_causes.cc):
// Something collects tensors step by step, and no end is in sight.
std::optional<Cause> FindLeak(const OomCase& oom);
// An object of the program holds much, though it need not grow.
std::optional<Cause> FindCollection(const OomCase& oom);
// A tensor is made larger each time, by a copy of itself and a little more.
std::optional<Cause> FindGrowingTensor(const OomCase& oom);
// The constants of a function that is traced again and again.
std::optional<Cause> FindRetracing(const OomCase& oom);
//
// What is kept (kept_causes.cc):
// Models, or optimizers, of earlier rounds.
std::optional<Cause> FindOlderModels(const OomCase& oom);
// What an attempt made that ended in an earlier OOM.
std::optional<Cause> FindFailedAttempt(const OomCase& oom);
// A loop runs under one gradient tape.
std::optional<Cause> FindTapedRounds(const OomCase& oom);
//
// What comes in (input_causes.cc):
// Much came from NumPy as it is: a whole data set, say.
std::optional<Cause> FindHostData(const OomCase& oom);
// shuffle() or cache() of an input pipeline keeps elements.
std::optional<Cause> FindPipelineBuffer(const OomCase& oom);
// The input pipeline has made batches ahead of the steps.
std::optional<Cause> FindPrefetchedBatches(const OomCase& oom);
// predict() does several steps in one call.
std::optional<Cause> FindStepsInOneCall(const OomCase& oom);
//
// What the step asks for (step_causes.cc):
// A request that no data explains.
std::optional<Cause> FindWrongShape(const OomCase& oom);
// A loop keeps what each of its iterations computed for the backward pass.
std::optional<Cause> FindKeptIterations(const OomCase& oom);
// Large variables lie there several times: slots, gradients.
std::optional<Cause> FindLargeVariable(const OomCase& oom);
// Several replicas of the model share the pool.
std::optional<Cause> FindReplicas(const OomCase& oom);
// The pool grew for smaller steps than this one.
std::optional<Cause> FindFirstStepRegions(const OomCase& oom);
// Blocks that the allocator left larger than what lies in them.
std::optional<Cause> FindBlockSlack(const OomCase& oom);

// The remedy of a cause in words.
struct RemedyWords {
  const char* kind;
  std::string title;
  // What the cause's sentence does not say.
  std::string detail;
  std::string code;
};

Cause MakeCause(const char* name, const char* kind, uint64_t bytes,
                std::string sentence);

// Adds a remedy after which `released` was never made, pointed to where they
// were, and to what keeps them.
void AddRelease(const OomCase& oom, const std::vector<Row>& released,
                RemedyWords words, Cause* cause);

// " 80.0 MiB of it are kept by list 'history' in __main__ (20 items)."; empty:
// that was not recorded.
std::string AndKeptBy(const OomCase& oom, const std::vector<Row>& rows);
// Whether so many bytes are at least that share of what is in use.
bool IsShareOfUse(const OomCase& oom, uint64_t bytes, double share);
uint64_t BytesOf(const OomCase& oom, const std::vector<Row>& rows);
// The site that holds most of the rows' bytes.
SiteId LargestSite(const OomCase& oom, const std::vector<Row>& rows);
// Whether the role is that of a variable or of an optimizer's slot.
bool IsModels(Role role);
// In how many calls of a function, or runs of a pipeline's, they were made.
size_t RunsOf(const OomCase& oom, const std::vector<Row>& rows);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_PREDICATES_H_
