// Sites: what allocations have in common. Two allocations of one site asked
// for the same bytes, for the same op, shape and dtype.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_SITE_TABLE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_SITE_TABLE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/trace/op_name.h"
#include "converter/trace/source_table.h"
#include "converter/trace/string_table.h"

namespace oom_forensics {

using SiteId = uint32_t;
// Id in a CompiledRequestTable; 0: none.
using CompiledRequestId = uint32_t;

enum class SiteMode : uint8_t { kUnknown, kEager, kGraph };

// What is recorded of a site. Texts are of the host's StringTable.
struct AllocationSite {
  StringId op = kEmptyString;
  // As recorded, "[8,16]"; empty: not recorded.
  StringId shape = kEmptyString;
  StringId region_type = kEmptyString;
  // tensorflow.DataType; 0: not recorded.
  int32_t dtype = 0;
  SiteMode mode = SiteMode::kUnknown;
  // Where the op was called, of ops that are not of a graph.
  StackIndex stack = kNoStack;
  uint64_t requested_bytes = 0;
  uint64_t allocated_bytes = 0;
  // What XLA asked for; 0: XLA did not ask (compiled_request.h).
  CompiledRequestId compiled = 0;

  friend bool operator==(const AllocationSite& a, const AllocationSite& b) {
    return a.op == b.op && a.shape == b.shape &&
           a.region_type == b.region_type && a.dtype == b.dtype &&
           a.mode == b.mode && a.stack == b.stack &&
           a.requested_bytes == b.requested_bytes &&
           a.allocated_bytes == b.allocated_bytes && a.compiled == b.compiled;
  }
  template <typename H>
  friend H AbslHashValue(H h, const AllocationSite& s) {
    return H::combine(std::move(h), s.op, s.shape, s.region_type, s.dtype,
                      s.mode, s.stack, s.requested_bytes, s.allocated_bytes,
                      s.compiled);
  }
};

// All sites of a host, each once.
class SiteTable {
 public:
  SiteId Intern(const AllocationSite& site);
  const AllocationSite& Get(SiteId id) const { return sites_[id]; }
  size_t size() const { return sites_.size(); }

 private:
  std::vector<AllocationSite> sites_;
  absl::flat_hash_map<AllocationSite, SiteId> ids_;
};

// The dims of "[8,16]". Returns false where `text` is not a shape of known
// dims; `dims` is then empty. "[]" is a scalar.
bool ParseShape(std::string_view text, std::vector<int64_t>* dims);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_SITE_TABLE_H_
