#include "converter/datasets/allocation_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "converter/datasets/group_key.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Deeper scopes are summed up in their ancestor: answers are nested as deep,
// and readers of protobuf stop at 100 levels.
constexpr int kMaxDepth = 40;

}  // namespace

AllocationGroups::Node* AllocationGroups::Node::Child(std::string_view key) {
  const auto found = children.find(key);
  if (found != children.end()) return found->second.get();
  return children.emplace(std::string(key), std::make_unique<Node>())
      .first->second.get();
}

void AllocationGroups::Node::Count(const AllocationSite& site) {
  ++count;
  requested_bytes += site.requested_bytes;
  allocated_bytes += site.allocated_bytes;
  largest_bytes = std::max(largest_bytes, site.allocated_bytes);
}

void AllocationGroups::AddToTree(std::string_view scope,
                                 const AllocationSite& site) {
  Node* node = &root_;
  for (int depth = 0; depth < kMaxDepth && !scope.empty(); ++depth) {
    const size_t slash = scope.find('/');
    node = node->Child(scope.substr(0, slash));
    node->Count(site);
    scope.remove_prefix(slash == std::string_view::npos ? scope.size()
                                                        : slash + 1);
  }
}

void AllocationGroups::Add(const SelectedAllocator& allocator, Row alloc,
                           Position position) {
  if (group_by_ == GROUP_NONE) return;
  const AllocatorReplay& replay = *allocator.replay;
  const AllocationSite& site = replay.SiteOf(alloc);
  if (group_by_ != GROUP_SCOPE) {
    root_.Child(GroupKey(allocator, alloc, position, group_by_))->Count(site);
    return;
  }
  std::string key = SiteGroupKey(replay.host(), site, GROUP_SCOPE);
  std::string_view scope = key;
  ConsumePrefix(&scope, StripCallPrefix(scope_));
  ConsumePrefix(&scope, "/");
  AddToTree(scope.empty() ? std::string_view(key) : scope, site);
}

void AllocationGroups::WriteLevel(
    const Node& node, SortKey sort, bool ascending,
    google::protobuf::RepeatedPtrField<AllocationGroup>* groups) {
  using Entry = std::pair<const std::string*, const Node*>;
  std::vector<Entry> entries;
  for (const auto& [key, child] : node.children) {
    entries.emplace_back(&key, child.get());
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry& a, const Entry& b) {
                     const Entry& first = ascending ? a : b;
                     const Entry& second = ascending ? b : a;
                     switch (sort) {
                       case SORT_COUNT:
                         return first.second->count < second.second->count;
                       case SORT_REQUESTED_BYTES:
                         return first.second->requested_bytes <
                                second.second->requested_bytes;
                       case SORT_OP:
                       case SORT_SHAPE:
                       case SORT_DTYPE:
                         return *first.first < *second.first;
                       default:
                         return first.second->allocated_bytes <
                                second.second->allocated_bytes;
                     }
                   });
  for (const auto& [key, child] : entries) {
    AllocationGroup* group = groups->Add();
    group->set_key(*key);
    group->set_count(child->count);
    group->set_requested_bytes(child->requested_bytes);
    group->set_allocated_bytes(child->allocated_bytes);
    group->set_largest_bytes(child->largest_bytes);
    WriteLevel(*child, sort, ascending, group->mutable_children());
  }
}

void AllocationGroups::Write(
    SortKey sort, bool ascending,
    google::protobuf::RepeatedPtrField<AllocationGroup>* groups) const {
  WriteLevel(root_, sort, ascending, groups);
}

}  // namespace oom_forensics
