// Which result of a module a request beyond its plan was for.
//
// A new weight is written over the old one, its argument, where XLA may do so.
// Where it may not, as in the first step, the run asks for it after all that
// its buffer assignment plans, in the order of the results, and nothing says
// for which. Order and sizes do.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_FRESH_RESULTS_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_FRESH_RESULTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

// An allocation, or a request that failed, and what it is for.
struct RowMatch {
  Row row = kNoRow;
  CompiledRequest request;
};

// CompiledModule::fresh_results by their sizes.
class FreshResults {
 public:
  static constexpr int32_t kNone = -1;

  explicit FreshResults(const CompiledModule& module);

  // The first of that size at or after `from`; kNone.
  int32_t NextOf(uint64_t bytes, int32_t from) const;
  // The last of that size before `end`; kNone.
  int32_t LastOf(uint64_t bytes, int32_t end) const;
  int32_t count() const { return count_; }

 private:
  int32_t count_ = 0;
  // Rising.
  absl::flat_hash_map<uint64_t, std::vector<int32_t>> by_size_;
};

// Makes `request` one for that result.
void SetFreshResult(const HostTrace& trace, int32_t result,
                    CompiledRequest* request);

// For the requests whose module is known and whose allocation is not: which
// results they were. Where others of the same size would fit into the order,
// too, it is the first, and others_fit is set.
std::vector<RowMatch> MatchFreshResults(const HostTrace& trace,
                                        const AllocatorTrace& allocator);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_FRESH_RESULTS_H_
