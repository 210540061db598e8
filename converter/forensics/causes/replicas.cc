// Data-parallel replicas whose devices share one pool (logical devices of a
// CPU), or one device that was given twice.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kReplica = "/replica_";

}  // namespace

std::optional<Cause> FindReplicas(const OomCase& oom) {
  std::set<std::string> replicas;
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    const std::string& op = oom.host().OpOf(oom.replay().SiteOf(row));
    const size_t at = op.find(kReplica);
    if (at == std::string::npos) continue;
    const size_t number = at + kReplica.size();
    replicas.insert(op.substr(number, op.find('/', number) - number));
    bytes += oom.replay().BytesOf(row);
  }
  if (replicas.empty() || !IsWorthIt(oom, bytes)) return std::nullopt;
  Cause cause;
  cause.name = "replicas";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  // The first replica's ops have no prefix.
  cause.sentence = absl::StrCat(
      replicas.size() + 1,
      " replicas of the model take their memory from this one pool; all but "
      "the first hold ",
      FormatBytes(bytes), ", and each has its own copy of the variables.");
  return cause;
}

}  // namespace oom_forensics
