// The loops of recurrent layers: a while-loop keeps the tensors of all its
// iterations in lists until the backward loop has used them.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/trace/op_name.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kBody = "/while/body/";
// Fewer iterations are no story.
constexpr uint64_t kMinIterations = 8;
// Part of the memory in use that the loop must hold.
constexpr double kIterationsShare = 0.2;

struct Loop {
  uint64_t bytes = 0;
  std::map<SiteId, uint64_t> kept_by_site;
};

// How many iterations were done: what is made once in each is kept as often,
// and most tensors are. 0: too few to tell.
uint64_t IterationsOf(const OomCase& oom, const Loop& loop) {
  struct Alike {
    size_t sites = 0;
    uint64_t bytes = 0;
  };
  std::map<uint64_t, Alike> by_count;
  for (const auto& [site, kept] : loop.kept_by_site) {
    if (kept < kMinIterations) continue;
    Alike& alike = by_count[kept];
    ++alike.sites;
    alike.bytes += kept * oom.host().sites.Get(site).requested_bytes;
  }
  uint64_t iterations = 0;
  Alike most;
  for (const auto& [count, alike] : by_count) {
    if (std::tie(alike.sites, alike.bytes) <=
        std::tie(most.sites, most.bytes)) {
      continue;
    }
    most = alike;
    iterations = count;
  }
  return iterations;
}

// The scope of the layer that loops: "sequential_1/lstm_1".
std::string LoopOf(std::string_view op_name) {
  const size_t body = op_name.find(kBody);
  if (body == std::string_view::npos) return "";
  return std::string(StripCallPrefix(op_name.substr(0, body)));
}

}  // namespace

std::optional<Cause> FindKeptIterations(const OomCase& oom) {
  std::map<std::string, Loop> loops;
  for (const Row row : oom.live()) {
    const std::string& op = oom.host().OpOf(oom.replay().SiteOf(row));
    if (IsGradientName(op) || !oom.IsOfThisStep(row)) continue;
    const std::string name = LoopOf(op);
    if (name.empty()) continue;
    Loop& loop = loops[name];
    loop.bytes += oom.replay().BytesOf(row);
    ++loop.kept_by_site[oom.replay().trace().site[row]];
  }
  uint64_t bytes = 0;
  const std::pair<const std::string, Loop>* largest = nullptr;
  for (const auto& loop : loops) {
    bytes += loop.second.bytes;
    if (largest == nullptr || loop.second.bytes > largest->second.bytes) {
      largest = &loop;
    }
  }
  if (largest == nullptr || !IsShareOfUse(oom, bytes, kIterationsShare)) {
    return std::nullopt;
  }
  const uint64_t iterations = IterationsOf(oom, largest->second);
  if (iterations == 0) return std::nullopt;
  Cause cause;
  cause.name = "kept_iterations";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "The loop of ", largest->first, " keeps ",
      FormatBytes(largest->second.bytes / iterations),
      " of each of its iterations for the backward pass, ",
      FormatBytes(largest->second.bytes), " of the ", FormatCount(iterations),
      " that were done",
      loops.size() > 1
          ? absl::StrCat("; all loops together keep ", FormatBytes(bytes))
          : std::string(),
      ". A shorter series, a smaller batch or fewer units make it less.");
  return cause;
}

}  // namespace oom_forensics
