// Sums over groups of allocations; scopes as a tree.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_GROUPS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_GROUPS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "converter/datasets/selection.h"
#include "converter/trace/source_table.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

class AllocationGroups {
 public:
  // `scope`: where a tree of scopes begins.
  AllocationGroups(GroupBy group_by, const std::string& scope)
      : group_by_(group_by), scope_(scope) {}

  void Add(const SelectedAllocator& allocator, const AllocationPart& part,
           Position position);
  // Sorted as allocations are; keys that groups do not have mean bytes.
  void Write(SortKey sort, bool ascending,
             google::protobuf::RepeatedPtrField<AllocationGroup>* groups) const;

 private:
  struct Node {
    uint64_t count = 0;
    uint64_t requested_bytes = 0;
    uint64_t allocated_bytes = 0;
    uint64_t largest_bytes = 0;
    // Set for a group that is a line.
    LineId line = kNoLine;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;

    Node* Child(std::string_view key);
    void Count(const AllocationSite& site);
  };

  void WriteLevel(
      const Node& node, SortKey sort, bool ascending,
      google::protobuf::RepeatedPtrField<AllocationGroup>* groups) const;
  void AddToTree(std::string_view scope, const AllocationSite& site);
  void AddToCalls(const HostTrace& host, const AllocationSite& site);

  GroupBy group_by_;
  std::string scope_;
  Node root_;
  // The host that lines are of. Groups of several hosts are told apart by
  // their keys alone.
  SharedHost host_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_GROUPS_H_
