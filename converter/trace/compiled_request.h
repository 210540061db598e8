// What XLA asks TensorFlow for: an allocation of a compiled module, and what
// lies in it.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_COMPILED_REQUEST_H_
#define OOM_FORENSICS_CONVERTER_TRACE_COMPILED_REQUEST_H_

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/hlo/compiled_module.h"
#include "converter/trace/site_table.h"
#include "converter/trace/string_table.h"

namespace oom_forensics {

// How it is known which allocation of which module a request is for.
enum class RequestMatch : uint8_t {
  // It is not: the trace has no such module, or several fit.
  kNone,
  // The trace says it.
  kRecorded,
  // The trace says the module; of its allocations only one has this size.
  kBySize,
  // One thread asked for the sizes of the module's allocations, in their order.
  kByOrder,
};

// Texts are of the host's StringTable.
struct CompiledRequest {
  // "one_step_on_data"
  StringId function = kEmptyString;
  StringId module_name = kEmptyString;
  // The op that ran the function; empty: not recorded.
  StringId launch_op = kEmptyString;
  uint64_t program_id = 0;
  // Index in the module's buffer assignment; -1: not known.
  int64_t allocation = -1;
  // The kind is recorded, or follows from the allocation.
  bool has_kind = false;
  BufferKind kind = BufferKind::kTemp;
  // Index into CompiledModule::fresh_results; -1: it is one of the plan.
  int32_t fresh_result = -1;
  // Index into HostTrace::modules; -1: the trace does not have it.
  int32_t module = -1;
  RequestMatch match = RequestMatch::kNone;
  // Not only this one fitted: other modules, or other allocations of this one.
  bool others_fit = false;

  auto Key() const {
    return std::tuple(function, module_name, launch_op, program_id, allocation,
                      has_kind, kind, fresh_result, module, match, others_fit);
  }
  friend bool operator==(const CompiledRequest& a, const CompiledRequest& b) {
    return a.Key() == b.Key();
  }
  template <typename H>
  friend H AbslHashValue(H h, const CompiledRequest& request) {
    return H::combine(std::move(h), request.Key());
  }
};

// The requests of a host, each once, numbered from 1: 0 is none.
class CompiledRequestTable {
 public:
  CompiledRequestId Intern(const CompiledRequest& request) {
    const auto [entry, inserted] =
        ids_.try_emplace(request, static_cast<CompiledRequestId>(size() + 1));
    if (inserted) requests_.push_back(request);
    return entry->second;
  }
  const CompiledRequest& Get(CompiledRequestId id) const {
    return requests_[id - 1];
  }
  size_t size() const { return requests_.size(); }

 private:
  std::vector<CompiledRequest> requests_;
  absl::flat_hash_map<CompiledRequest, CompiledRequestId> ids_;
};

// A buffer of an opened block, or what is unused in it, as a site of its own.
struct SitePart {
  SiteId site = 0;
  // From the block's address.
  uint64_t offset_bytes = 0;
  // Index into CompiledAllocation::buffers; BlockPart::kUnused: none.
  uint32_t buffer = BlockPart::kUnused;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_COMPILED_REQUEST_H_
