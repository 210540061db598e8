#include "converter/black_box/box_trace.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/black_box/box_planes.h"

namespace oom_forensics {
namespace {

using black_box::Box;
using black_box::Ring;
using black_box::Sample;

// No time of a trace lies beyond it.
constexpr int64_t kMaxNs = INT64_MAX / 2;
// A process that ended so soon after an out-of-memory ended by it: oneDNN and
// XLA crash where they get no memory.
constexpr int64_t kOomEndsItNs = 10'000'000'000;

bool IsTime(int64_t time_ns) { return time_ns > 0 && time_ns < kMaxNs; }

}  // namespace

absl::StatusOr<std::unique_ptr<ReadBox>> ReadBox::FromBytes(
    std::string_view bytes, const std::string& name) {
  const auto fail = [&](const auto&... parts) {
    return absl::DataLossError(absl::StrCat(name, parts...));
  };
  // What comes before the version is the same in all versions.
  constexpr size_t kStart = offsetof(black_box::Header, end);
  if (bytes.size() < kStart || std::memcmp(bytes.data(), black_box::kMagic,
                                           sizeof(black_box::kMagic)) != 0) {
    return fail(" is not a black box, or its process died while it made it.");
  }
  uint32_t version;
  std::memcpy(&version, bytes.data() + offsetof(black_box::Header, version),
              sizeof(version));
  if (version != black_box::kVersion) {
    return fail(" is a black box of version ", version,
                "; this program reads version ", black_box::kVersion,
                ". Read it with the version of OOM Forensics that wrote it.");
  }
  if (bytes.size() < sizeof(Box)) {
    return fail(" is cut off: ", bytes.size(), " of ", sizeof(Box),
                " bytes are there.");
  }
  std::unique_ptr<ReadBox> box(new ReadBox);
  box->storage_.resize((sizeof(Box) + 7) / 8);
  std::memcpy(box->storage_.data(), bytes.data(), sizeof(Box));
  if (!IsTime(box->header().started_ns)) {
    return fail(" is damaged: it does not say when its process began.");
  }
  return box;
}

std::string ReadBox::host() const { return TextOf(header().host); }
std::string ReadBox::cgroup() const { return TextOf(header().cgroup); }
std::string ReadBox::logdir() const { return TextOf(header().logdir); }

std::string ReadBox::oom_run() const {
  const int64_t written_ns = header().oom_run_ns.load();
  return IsTime(written_ns) && last_ns() - written_ns < kOomEndsItNs
             ? TextOf(header().oom_run)
             : "";
}

bool ReadBox::IsShort() const {
  const std::vector<const Sample*> samples = Samples();
  const uint64_t limit = header().limit_bytes.load();
  const uint64_t whole = limit == 0 ? header().machine_bytes : limit;
  return !samples.empty() && static_cast<double>(samples.back()->used_bytes) >
                                 black_box::kShort * static_cast<double>(whole);
}

std::vector<const Sample*> ReadBox::Samples() const {
  std::vector<const Sample*> samples;
  // The finest ring tells of the end, the others of what was before it.
  int64_t before_ns = kMaxNs;
  for (const Ring& ring : box().rings) {
    int64_t oldest_ns = before_ns;
    for (const Sample& sample : ring.samples) {
      const int64_t time_ns = sample.time_ns.load(std::memory_order_relaxed);
      if (!IsTime(time_ns) || time_ns >= before_ns) continue;
      samples.push_back(&sample);
      oldest_ns = std::min(oldest_ns, time_ns);
    }
    before_ns = oldest_ns;
  }
  const auto time_of = [](const Sample* sample) {
    return sample->time_ns.load(std::memory_order_relaxed);
  };
  std::sort(samples.begin(), samples.end(),
            [&](const Sample* a, const Sample* b) {
              return time_of(a) < time_of(b);
            });
  return samples;
}

int64_t ReadBox::last_ns() const {
  const std::vector<const Sample*> samples = Samples();
  return samples.empty()
             ? header().started_ns
             : samples.back()->time_ns.load(std::memory_order_relaxed);
}

std::string ReadBox::ToTrace(const Ending& ending,
                             const LineText& line_text) const {
  return WriteBoxPlanes(box(), Samples(), ending, line_text);
}

}  // namespace oom_forensics
