#include "converter/datasets/allocation_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "converter/datasets/group_key.h"
#include "converter/forensics/source_frames.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "converter/trace/site_source.h"

namespace oom_forensics {
namespace {

// Deeper scopes are summed up in their ancestor: answers are nested as deep,
// and readers of protobuf stop at 100 levels.
constexpr size_t kMaxDepth = 40;

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
  for (size_t depth = 0; depth < kMaxDepth && !scope.empty(); ++depth) {
    const size_t slash = scope.find('/');
    node = node->Child(scope.substr(0, slash));
    node->Count(site);
    scope.remove_prefix(slash == std::string_view::npos ? scope.size()
                                                        : slash + 1);
  }
}

// Outermost first, the user's frames alone.
void AllocationGroups::AddToCalls(const HostTrace& host,
                                  const AllocationSite& site) {
  const SiteSource source = SourceOf(host, site);
  std::vector<LineId> lines;
  for (const StackFrame& frame : host.source.StackAt(source.called).frames) {
    if (!frame.is_library) lines.push_back(frame.line);
  }
  std::reverse(lines.begin(), lines.end());
  // What was made elsewhere than it is called is a leaf of the call.
  if (source.line != kNoLine &&
      (lines.empty() || lines.back() != source.line)) {
    lines.push_back(source.line);
  }
  if (lines.empty()) lines.push_back(kNoLine);
  if (lines.size() > kMaxDepth) lines.resize(kMaxDepth);
  Node* node = &root_;
  for (const LineId line : lines) {
    node = node->Child(LineGroupKey(host, line));
    node->line = line;
    node->Count(site);
  }
}

void AllocationGroups::Add(const SelectedAllocator& allocator,
                           const AllocationPart& part, Position position) {
  if (group_by_ == GROUP_NONE) return;
  const AllocatorReplay& replay = *allocator.replay;
  const AllocationSite& site = replay.host().sites.Get(part.site);
  if (host_ == nullptr) host_ = allocator.host;
  const bool has_lines = host_ == allocator.host;
  if (group_by_ == GROUP_STACK && has_lines) {
    AddToCalls(replay.host(), site);
    return;
  }
  if (group_by_ != GROUP_SCOPE) {
    Node* node = root_.Child(GroupKey(allocator, part, position, group_by_));
    node->Count(site);
    if (group_by_ == GROUP_LINE && has_lines) {
      node->line = SourceOf(replay.host(), site).line;
    }
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
    google::protobuf::RepeatedPtrField<AllocationGroup>* groups) const {
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
    if (child->line != kNoLine) {
      *group->mutable_line() = MakeSourceFrame(host_->trace(), child->line);
    }
    WriteLevel(*child, sort, ascending, group->mutable_children());
  }
}

void AllocationGroups::Write(
    SortKey sort, bool ascending,
    google::protobuf::RepeatedPtrField<AllocationGroup>* groups) const {
  WriteLevel(root_, sort, ascending, groups);
}

}  // namespace oom_forensics
