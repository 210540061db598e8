#include "converter/forensics/block_content.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/text/enum_ids.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// One layer, or layers that are alike, that hold so much of a role are named.
constexpr double kTellingShare = 0.5;
// A scope that holds so much of what lies below is only on the way.
constexpr double kOnTheWayShare = 0.9;
constexpr char kNoScope[] = "(no op)";

struct Sum {
  uint64_t bytes = 0;
  uint64_t count = 0;

  void Add(uint64_t size_bytes) {
    bytes += size_bytes;
    ++count;
  }
};

// A name with its numbers as "*": layers that differ in them are alike.
// "mix_0_1" and "mix_3_1" are "mix_*"; what a letter follows is no number:
// "max_pooling2d_1" is "max_pooling2d_*".
std::string Pattern(std::string_view name) {
  std::string pattern;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == i) {
      pattern += name[i++];
      continue;
    }
    const bool letter_follows = end < name.size() && name[end] != '_' &&
                                name[end] != '-' && name[end] != '.';
    pattern += letter_follows ? name.substr(i, end - i) : "*";
    i = end;
  }
  while (EndsWith(pattern, "_*_*")) pattern.resize(pattern.size() - 2);
  return pattern;
}

// The scope of a buffer; of what lies in none its op: `Tanh`.
std::string_view HolderOf(const CompiledBuffer& buffer) {
  const std::string_view scope = ScopeOf(buffer.op_name);
  return scope.empty() ? LayerPath(buffer.op_name) : scope;
}

std::string_view FirstPart(std::string_view path) {
  return path.substr(0, path.find('/'));
}

// Sums by the part of each scope that lies just below `prefix`.
std::map<std::string, Sum> Below(const std::map<std::string, Sum>& scopes,
                                 const std::string& prefix) {
  std::map<std::string, Sum> below;
  for (const auto& [scope, sum] : scopes) {
    std::string_view rest = scope;
    if (!ConsumePrefix(&rest, prefix)) continue;
    Sum& child = below[std::string(FirstPart(rest))];
    child.bytes += sum.bytes;
    child.count += sum.count;
  }
  return below;
}

struct Layers {
  std::string words;
  uint64_t bytes = 0;
};

// The layers that hold most of the bytes, in words: "the 4 `mix_*` layers".
// Empty: there are none that hold enough of them.
Layers LayersOf(const std::map<std::string, Sum>& scopes, uint64_t bytes) {
  std::string prefix;
  std::map<std::string, Sum> below = Below(scopes, prefix);
  constexpr int kMaxDepth = 40;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto on_the_way =
        std::find_if(below.begin(), below.end(), [bytes](const auto& child) {
          return static_cast<double>(child.second.bytes) >=
                 kOnTheWayShare * static_cast<double>(bytes);
        });
    if (on_the_way == below.end()) break;
    const std::string next = absl::StrCat(prefix, on_the_way->first, "/");
    std::map<std::string, Sum> further = Below(scopes, next);
    uint64_t further_bytes = 0;
    for (const auto& [key, sum] : further) further_bytes += sum.bytes;
    // The layer itself, not what is below it, holds them.
    if (further.empty() || further_bytes * 2 < on_the_way->second.bytes) {
      return {absl::StrCat("`", prefix, on_the_way->first, "`"),
              on_the_way->second.bytes};
    }
    prefix = next;
    below = std::move(further);
  }
  std::map<std::string, std::pair<Sum, std::string>> families;
  for (const auto& [key, sum] : below) {
    auto& [family, example] = families[Pattern(key)];
    family.bytes += sum.bytes;
    ++family.count;  // Of layers.
    example = key;
  }
  const auto largest = std::max_element(
      families.begin(), families.end(), [](const auto& a, const auto& b) {
        return a.second.first.bytes < b.second.first.bytes;
      });
  if (largest == families.end()) return {};
  const auto& [family, example] = largest->second;
  if (static_cast<double>(family.bytes) <
      kTellingShare * static_cast<double>(bytes)) {
    return {};
  }
  if (family.count == 1) {
    return {absl::StrCat("`", prefix, example, "`"), family.bytes};
  }
  return {absl::StrCat("the ", family.count, " `", largest->first, "` layers"),
          family.bytes};
}

std::string RoleInWords(Role role) {
  switch (role) {
    case ROLE_VARIABLE:
      return "weights";
    case ROLE_OPTIMIZER:
      return "the optimizer's";
    case ROLE_GRADIENT:
      return "gradients";
    case ROLE_ACTIVATION:
      return "activations";
    case ROLE_INPUT:
      return "inputs";
    case ROLE_WORKSPACE:
      return "workspaces";
    default:
      return "buffers";
  }
}

template <typename Key>
std::vector<std::pair<Key, Sum>> LargestFirst(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.bytes > b.second.bytes;
                   });
  return sorted;
}

void AddShare(const std::string& key, const Sum& sum, BlockShare* share) {
  share->set_key(key);
  share->set_bytes(sum.bytes);
  share->set_count(sum.count);
}

class Content {
 public:
  Content(const CompiledAllocation& allocation, ProgramPoint point) {
    message_.set_block_bytes(allocation.size_bytes);
    for (const BlockPart& part : allocation.PartsAt(point)) {
      if (part.buffer == BlockPart::kUnused) {
        message_.set_unused_bytes(message_.unused_bytes() + part.size_bytes);
      } else {
        Add(allocation.buffers[part.buffer], part.size_bytes);
      }
    }
  }

  BlockContent Finish() {
    for (const auto& [scope, sum] : LargestFirst(scopes_)) {
      AddShare(scope.empty() ? kNoScope : scope, sum, message_.add_by_scope());
    }
    const auto roles = LargestFirst(roles_);
    for (const auto& [role, sum] : roles) {
      AddShare(RoleId(role), sum, message_.add_by_role());
    }
    if (!roles.empty()) message_.set_sentence(Sentence(roles.front().first));
    return std::move(message_);
  }

 private:
  void Add(const CompiledBuffer& buffer, uint64_t bytes) {
    const Role role = RoleOfBuffer(buffer);
    const std::string scope(HolderOf(buffer));
    message_.set_live_bytes(message_.live_bytes() + bytes);
    message_.set_buffer_count(message_.buffer_count() + 1);
    if (!buffer.op_name.empty()) {
      message_.set_named_bytes(message_.named_bytes() + bytes);
    }
    if (buffer.held_for_backward) {
      message_.set_held_for_backward_bytes(message_.held_for_backward_bytes() +
                                           bytes);
      held_by_role_[role] += bytes;
    }
    scopes_[scope].Add(bytes);
    roles_[role].Add(bytes);
    scopes_of_role_[role][scope].Add(bytes);
  }

  std::string Sentence(Role role) {
    const uint64_t bytes = roles_[role].bytes;
    const Layers layers = LayersOf(scopes_of_role_[role], bytes);
    std::string sentence = absl::StrCat(
        FormatBytes(layers.words.empty() ? bytes : layers.bytes), " of ",
        FormatBytes(message_.block_bytes()), " are ", RoleInWords(role));
    if (!layers.words.empty()) {
      absl::StrAppend(&sentence, " of ", layers.words);
    }
    if (held_by_role_[role] * 2 > bytes) {
      absl::StrAppend(&sentence, ", held for the backward pass");
    }
    return absl::StrCat(sentence, ".");
  }

  BlockContent message_;
  std::map<std::string, Sum> scopes_;
  std::map<Role, Sum> roles_;
  std::map<Role, std::map<std::string, Sum>> scopes_of_role_;
  std::map<Role, uint64_t> held_by_role_;
};

std::string KindInWords(const CompiledRequest& request) {
  if (!request.has_kind) return "a block of it";
  switch (request.kind) {
    case BufferKind::kTemp:
      return "its temporary block";
    case BufferKind::kOutput:
      return "one of its outputs";
    case BufferKind::kConstant:
      return "its constants";
    case BufferKind::kParameter:
      return "one of its arguments";
    case BufferKind::kThreadLocal:
      return "scratch space of a thread";
  }
  return "a block of it";
}

}  // namespace

Role RoleOfBuffer(const CompiledBuffer& buffer) {
  RequestKind kind;
  kind.has_shape = true;
  kind.of_optimizer = buffer.of_optimizer;
  switch (PurposeOf(buffer.op_name, kind)) {
    case OpPurpose::kVariable:
      return ROLE_VARIABLE;
    case OpPurpose::kOptimizerSlot:
    case OpPurpose::kOptimizerUpdate:
    case OpPurpose::kVariableUpdate:
      return ROLE_OPTIMIZER;
    case OpPurpose::kGradient:
      return ROLE_GRADIENT;
    case OpPurpose::kForward:
      return ROLE_ACTIVATION;
    case OpPurpose::kInput:
      return ROLE_INPUT;
    case OpPurpose::kWorkspace:
      return ROLE_WORKSPACE;
    case OpPurpose::kUnknown:
      return buffer.has_gradient || buffer.held_for_backward ? ROLE_ACTIVATION
                                                             : ROLE_UNKNOWN;
  }
  return ROLE_UNKNOWN;
}

BlockContent ContentOf(const CompiledAllocation& allocation,
                       ProgramPoint point) {
  return Content(allocation, point).Finish();
}

std::string WhoAsked(const HostTrace& host, const AllocationSite& site) {
  const CompiledRequest* request = host.CompiledOf(site);
  if (request == nullptr) return "";
  const std::string& function = host.strings.Get(request->function);
  std::string what = "function";
  if (function.find("step") != std::string::npos) what = "step";
  if (StartsWith(function, "cluster_")) what = "cluster";
  return absl::StrCat("compiled ", what,
                      function.empty() ? "" : absl::StrCat(" `", function, "`"),
                      " (XLA), ", KindInWords(*request));
}

}  // namespace oom_forensics
