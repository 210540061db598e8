// Bytes by group at any position.
//
// Keyframes of the sums of all groups lie so far apart that together they take
// two bytes a row; a position costs one keyframe and the rows after it.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

class GroupTimeline {
 public:
  // `group_by` must be a group of sites. Counts what `keeps` keeps.
  GroupTimeline(const AllocatorReplay& replay, const RowPredicate& keeps,
                GroupBy group_by);

  // The groups' keys; their sums are in this order.
  const std::vector<std::string>& keys() const { return keys_; }
  std::vector<int64_t> BytesAt(Position position) const;

 private:
  // Adds what the row changes to the sums.
  void Apply(Row row, std::vector<int64_t>* bytes) const;
  void Count(Row alloc, int64_t sign, std::vector<int64_t>* bytes) const;

  const AllocatorReplay& replay_;
  std::vector<std::string> keys_;
  std::vector<uint32_t> group_of_site_;
  // By row: counted. Empty: all are.
  std::vector<bool> counted_;
  Position keyframe_rows_ = 0;
  // The sums at position i * keyframe_rows_, one after the other.
  std::vector<int64_t> keyframes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_GROUP_TIMELINE_H_
