// Which allocation of which compiled module a request of XLA's was for.
//
// A run of a module asks, on one thread and in the order of its buffer
// assignment, for its outputs and its temporary block, one after the other:
// where the trace does not say who asked, these sizes do.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_MODULE_MATCH_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_MODULE_MATCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/compiled/fresh_results.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

class ModuleMatcher {
 public:
  // Interns the modules' names. `trace` must outlive the matcher.
  explicit ModuleMatcher(HostTrace* trace);

  // What the trace says of a request of that size, and what follows from it.
  CompiledRequest Resolve(const CompiledRequest& recorded,
                          uint64_t requested_bytes) const;

  // The requests whose sizes are a module's, in its order. They have no name,
  // or that of an op that runs a compiled function. The last of a run may have
  // failed.
  std::vector<RowMatch> MatchRows(const AllocatorTrace& allocator) const;

 private:
  // What a run of a module asks for.
  struct Sequence {
    int32_t module = 0;
    std::vector<const CompiledAllocation*> allocations;
    // What it may ask for after them.
    FreshResults fresh_results;
  };
  struct Found {
    const Sequence* sequence = nullptr;
    size_t length = 0;
    bool others_fit = false;
  };

  bool MayBeXla(const AllocationSite& site) const;
  Found FindAt(const AllocatorTrace& allocator, const std::vector<Row>& rows,
               size_t at) const;
  size_t LengthAt(const Sequence& sequence, const AllocatorTrace& allocator,
                  const std::vector<Row>& rows, size_t at) const;

  // For the i-th of the sequence.
  CompiledRequest RequestOf(const Sequence& sequence, size_t i) const;
  // Matches rows from `at` on with what a run asks for beyond its plan; where
  // the next begins.
  size_t MatchBeyond(const Sequence& sequence, const AllocatorTrace& allocator,
                     const std::vector<Row>& rows, size_t at,
                     std::vector<RowMatch>* matches) const;

  const HostTrace& trace_;
  std::vector<StringId> functions_;
  std::vector<StringId> names_;
  // By program id and name: indices into HostTrace::modules.
  absl::flat_hash_map<std::pair<uint64_t, StringId>, size_t> by_name_;
  std::vector<Sequence> sequences_;
  // By the size of a sequence's first request: indices into sequences_.
  absl::flat_hash_map<uint64_t, std::vector<size_t>> by_first_size_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_MODULE_MATCH_H_
