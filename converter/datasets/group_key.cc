#include "converter/datasets/group_key.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "converter/text/enum_ids.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "converter/trace/site_source.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr char kNoOp[] = "(no op)";
constexpr char kNoScope[] = "(no scope)";
constexpr char kEagerOps[] = "(eager ops)";
constexpr char kNoShape[] = "(no shape)";
constexpr char kNoDtype[] = "(no dtype)";
constexpr char kFirstReplicaOrNone[] = "(first replica, or none)";
constexpr char kNoLineRecorded[] = "(no line recorded)";

std::string Or(std::string text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

// Ops without a scope, as all are that ran eagerly, are told apart by type.
std::string ScopeKey(const HostTrace& host, const AllocationSite& site) {
  const std::string& op = host.OpOf(site);
  const std::string_view scope = ScopeOf(op);
  if (!scope.empty()) return std::string(scope);
  if (op.empty()) return kNoScope;
  return absl::StrCat(ModeOf(host, site) == EAGER ? kEagerOps : kNoScope, "/",
                      Absl(OpTypeOf(op)));
}

// By the whole path: two files of one name stay two.
std::string LineKey(const HostTrace& host, LineId id, GroupBy group_by) {
  if (id == kNoLine) return kNoLineRecorded;
  const CodeLine& line = host.source.LineAt(id);
  const std::string& file = host.strings.Get(line.file);
  const std::string& function = host.strings.Get(line.function);
  switch (group_by) {
    case GROUP_FILE:
      return Or(file, "(no file)");
    case GROUP_FUNCTION:
      return absl::StrCat(file, " ", function);
    default:
      return absl::StrCat(file, ":", line.line, " ", function);
  }
}

std::string AgeKey(int64_t age_ps) {
  struct Bound {
    int64_t from_ps;
    const char* key;
  };
  constexpr int64_t kSecondPs = 1'000'000'000'000;
  constexpr Bound kBounds[] = {
      {1000 * kSecondPs, "1000 s and more"},
      {100 * kSecondPs, "100 s to 1000 s"},
      {10 * kSecondPs, "10 s to 100 s"},
      {kSecondPs, "1 s to 10 s"},
      {kSecondPs / 10, "100 ms to 1 s"},
      {kSecondPs / 100, "10 ms to 100 ms"},
      {kSecondPs / 1000, "1 ms to 10 ms"},
  };
  for (const Bound& bound : kBounds) {
    if (age_ps >= bound.from_ps) return bound.key;
  }
  return "less than 1 ms";
}

}  // namespace

bool IsGroupOfSite(GroupBy group_by) {
  return group_by != GROUP_STEP && group_by != GROUP_AGE &&
         group_by != GROUP_ROLE && group_by != GROUP_DEVICE;
}

std::string SiteGroupKey(const HostTrace& host, const AllocationSite& site,
                         GroupBy group_by) {
  const std::string& op = host.OpOf(site);
  switch (group_by) {
    case GROUP_OP:
      return Or(op, kNoOp);
    case GROUP_SCOPE:
      return ScopeKey(host, site);
    case GROUP_OP_TYPE:
      return Or(std::string(OpTypeOf(op)), kNoOp);
    case GROUP_SHAPE:
      return Or(host.ShapeOf(site), kNoShape);
    case GROUP_DTYPE:
      return Or(DtypeName(site.dtype), kNoDtype);
    case GROUP_SITE:
      return absl::StrCat(Or(op, kNoOp), " ", Or(host.ShapeOf(site), kNoShape),
                          " ", Or(DtypeName(site.dtype), kNoDtype), " ",
                          site.allocated_bytes, " B");
    case GROUP_LINE:
    case GROUP_FILE:
    case GROUP_FUNCTION:
      return LineKey(host, SourceOf(host, site).line, group_by);
    case GROUP_STACK:
      return LineKey(host, SourceOf(host, site).line, GROUP_LINE);
    case GROUP_REPLICA:
      return Or(std::string(ReplicaOf(op)), kFirstReplicaOrNone);
    case GROUP_MODE:
      return ModeId(ModeOf(host, site));
    default:
      return "";
  }
}

std::string LineGroupKey(const HostTrace& host, LineId line) {
  return LineKey(host, line, GROUP_LINE);
}

Role RoleOf(const SelectedAllocator& allocator, const AllocationPart& part) {
  const RoleClassifier& roles = allocator.host->Roles(*allocator.replay);
  return part.is_whole() ? roles.RoleOf(part.row) : roles.RoleOfPart(part.site);
}

std::string GroupKey(const SelectedAllocator& allocator,
                     const AllocationPart& part, Position position,
                     GroupBy group_by) {
  const AllocatorReplay& replay = *allocator.replay;
  const Row alloc = part.row;
  if (group_by == GROUP_ROLE) return RoleId(RoleOf(allocator, part));
  if (group_by == GROUP_STEP) {
    const int64_t step = replay.host().StepAt(replay.BornPs(alloc));
    return step == kUnknownStep ? "(no step)" : absl::StrCat(step);
  }
  if (group_by == GROUP_DEVICE) {
    return Or(replay.trace().device, replay.trace().name.c_str());
  }
  if (group_by == GROUP_AGE) {
    return AgeKey(replay.TimePsOf(position) - replay.BornPs(alloc));
  }
  return SiteGroupKey(replay.host(), replay.host().sites.Get(part.site),
                      group_by);
}

}  // namespace oom_forensics
