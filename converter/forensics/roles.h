// The role of every allocation: what its op's name and its lifetime together
// really show. Where they do not, it stays unknown.
//
//   VARIABLE    made, read or assigned as one; or alive when an optimizer first
//               updated its shape, or made a slot of its bytes, and made by an
//               earlier call than that
//   OPTIMIZER   a slot by its name; or written by an update and alive after its
//               step; or zeros made like a variable beside a variable of the
//               same shape
//   GRADIENT    by its name
//   ACTIVATION  the output of a forward op in a layer's scope, or of one whose
//               gradient the trace has
//   INPUT       by its name
//   WORKSPACE   scratch space; or made by an update and gone within its step
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_ROLES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_ROLES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "converter/forensics/op_purpose.h"
#include "converter/replay/allocator_replay.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Whether a site's ops ran eagerly or in a graph: as recorded, else by names
// that only graphs have.
Mode ModeOf(const HostTrace& host, const AllocationSite& site);

class RoleClassifier {
 public:
  // Linear in the sites and the rows. `replay` must outlive the classifier.
  explicit RoleClassifier(const AllocatorReplay& replay);

  Role RoleOf(Row alloc) const;
  // The role of a request that has no lifetime, because it failed.
  Role RoleOfFailed(SiteId site) const;
  // The role of a buffer inside a compiled block, which lives no longer than
  // the block's run.
  Role RoleOfPart(SiteId site) const { return RoleOfFailed(site); }
  // Whether the allocation lives on after the step that made it.
  bool OutlivesItsStep(Row alloc) const;

 private:
  void ReadSites();
  void FindUpdates();
  // The row whose update or slot shows the allocation to be a variable or one
  // of its slots; kNoRow: there is none.
  Row WitnessOf(Row alloc) const;
  Role RoleByLifetime(Row alloc) const;

  const AllocatorReplay& replay_;
  std::vector<OpPurpose> purpose_;
  // Sites of forward ops outside any scope whose gradient the trace has.
  std::vector<bool> has_gradient_;
  // Shape of what optimizers update, to the first row of such an update.
  absl::flat_hash_map<StringId, Row> first_update_;
  // Requested bytes of an optimizer's slots, to the first row of such a slot.
  absl::flat_hash_map<uint64_t, Row> first_slot_;
  // Sites whose allocations an update or a slot may show to be a variable.
  std::vector<bool> may_have_witness_;
  // Shapes of variables that were not made as zeros.
  absl::flat_hash_set<StringId> random_variables_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_ROLES_H_
