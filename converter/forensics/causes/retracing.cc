// A tf.function that is traced anew again and again: each trace keeps its
// graph, and that the constants it was traced with.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// TensorFlow calls each trace of a function "step" so, with a number behind it.
constexpr std::string_view kTrace = "__inference_";
// A function has some traces as a rule: for training, evaluation, a last batch
// that is smaller.
constexpr size_t kMinTraces = 6;

// "step" of "__inference_step_220"; empty: it is not the name of a trace.
std::string_view FunctionOfTrace(std::string_view op) {
  const size_t at = op.find(kTrace);
  if (at == std::string_view::npos) return "";
  op.remove_prefix(at + kTrace.size());
  op = op.substr(0, op.find('/'));
  const size_t number = op.rfind('_');
  if (number == std::string_view::npos || number + 1 == op.size() ||
      !std::all_of(op.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                   op.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return "";
  }
  return op.substr(0, number);
}

// The function with the most traces, and how many; the name is empty if there
// is none.
std::pair<std::string, size_t> MostTraced(const HostTrace& host) {
  std::map<std::string, std::set<std::string>, std::less<>> traces;
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const std::string& op = host.OpOf(host.sites.Get(id));
    const std::string_view function = FunctionOfTrace(op);
    if (!function.empty()) traces[std::string(function)].insert(op);
  }
  std::pair<std::string, size_t> most;
  for (const auto& [function, names] : traces) {
    if (names.size() > most.second) most = {function, names.size()};
  }
  return most;
}

// Constants of graphs are recorded without a type.
bool IsConstant(const AllocationSite& site) {
  return site.dtype == 0 && site.op != kEmptyString;
}

}  // namespace

std::optional<Cause> FindRetracing(const OomCase& oom) {
  absl::flat_hash_set<Row> rows;
  uint64_t bytes = 0;
  for (const FoundLeak& leak : oom.leaks()) {
    if (leak.kind != FoundLeak::Kind::kGrowth ||
        !IsConstant(oom.replay().SiteOf(leak.rows.front()))) {
      continue;
    }
    // The newest belongs to the trace that is at work.
    rows.insert(leak.rows.begin(), leak.rows.end() - 1);
    bytes += leak.live_bytes;
  }
  if (!IsWorthIt(oom, bytes)) return std::nullopt;
  const auto [function, traces] = MostTraced(oom.host());
  if (traces < kMinTraces) return std::nullopt;
  Cause cause;
  cause.name = "retracing";
  cause.kind = "LEAK_LIKE";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "The function ", function, " was traced ", FormatCount(traces),
      " times, and each trace keeps its constants: ", FormatBytes(bytes), ".");
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kStopRetracing);
  candidate.remedy.set_title(
      absl::StrCat("Have ", function, " traced once, not for every call."));
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " A tf.function is traced anew for each new Python number, each new "
      "shape "
      "and each new object that it is given, and where it is made anew, in a "
      "loop say. Hand it tensors, make it once, and let shapes vary by "
      "input_signature or reduce_retracing=True."));
  candidate.remedy.set_code(
      absl::StrCat(function, "(x, tf.constant(number))  # not the number"));
  candidate.scenario = WithoutRows(oom, std::move(rows));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
