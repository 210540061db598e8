// Bytes by group at any position.
//
// Keyframes of the sums of all groups lie so far apart that together they take
// four bytes a row; a position costs one keyframe and the rows after it.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

class GroupTimeline {
 public:
  // Whether an allocation stays in its group all its life.
  static bool CanGroupBy(GroupBy group_by);

  // Only where CanGroupBy. Counts what `keeps` keeps. The allocator must stay
  // in memory as long as this.
  GroupTimeline(const SelectedAllocator& allocator, const RowPredicate& keeps,
                GroupBy group_by);

  // The groups' keys; their sums are in this order.
  const std::vector<std::string>& keys() const { return keys_; }
  std::vector<int64_t> BytesAt(Position position) const;
  uint64_t ResidentBytes() const;

 private:
  void GroupSites(GroupBy group_by);
  void GroupByRole(const RoleClassifier& roles);
  void OpenBlocks(const RowPredicate& keeps, const RoleClassifier* roles);
  uint32_t GroupOfRole(Role role);
  uint32_t GroupOf(Row alloc) const {
    return role_of_row_.empty() ? group_of_site_[replay_.trace().site[alloc]]
                                : role_of_row_[alloc];
  }
  // Adds what the row changes to the sums.
  void Apply(Row row, std::vector<int64_t>* bytes) const;
  void Count(Row alloc, int64_t sign, std::vector<int64_t>* bytes) const;

  const AllocatorReplay& replay_;
  std::vector<std::string> keys_;
  std::vector<uint32_t> group_of_site_;
  // Groups by role: indices into keys_.
  absl::flat_hash_map<Role, uint8_t> group_of_role_;
  // By row, for groups by role: indices into keys_. Empty: by site.
  std::vector<uint8_t> role_of_row_;
  // A part of a block that is opened.
  struct PartSum {
    uint32_t group;
    int64_t bytes;
  };
  // What sites count as that are opened.
  absl::flat_hash_map<SiteId, std::vector<PartSum>> opened_;
  // By row: counted. Empty: all are.
  std::vector<bool> counted_;
  Position keyframe_rows_ = 0;
  // The sums at position i * keyframe_rows_, one after the other.
  std::vector<int64_t> keyframes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_
