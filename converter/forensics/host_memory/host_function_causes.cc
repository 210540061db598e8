#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/forensics/host_memory/host_predicates.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// Worth a sentence: what traces took, and what executables did.
constexpr double kMuchOfTraces = 0.2;
constexpr double kMuchInExecutables = 0.2;

// What the process has that is neither of tensors nor of Python.
uint64_t OtherMallocAt(const HostMemoryTrace& memory, int64_t time_ns) {
  const uint64_t own = QuantityAt(memory, schema::kRssAnon, time_ns);
  uint64_t known = 0;
  for (const std::string_view name :
       {schema::kHostTensors, schema::kHostPools, schema::kHostNative,
        schema::kHostPython}) {
    known += QuantityAt(memory, name, time_ns);
  }
  return own - std::min(own, known);
}

// Whether a function is traced again for another value, not for another shape
// ("x: (8, 2), (9, 2)"): each trace is compiled then, and the value is the
// cause.
bool IsTracedForValues(const HostMemoryTrace& memory,
                       const std::string& function) {
  return std::any_of(memory.activities.begin(), memory.activities.end(),
                     [&](const HostActivity& activity) {
                       return activity.kind == schema::kTraceActivity &&
                              activity.name == function &&
                              activity.times >= kManyTraces &&
                              !activity.what.empty() &&
                              activity.what.find(": (") == std::string::npos;
                     });
}

}  // namespace

std::optional<HostCause> FindRetracing(const HostCase& host_case) {
  const HostActivity* const traced = LargestActivity(
      host_case, schema::kTraceActivity, [](const HostActivity& activity) {
        return activity.times < kManyTraces ? 0 : activity.grown_bytes;
      });
  if (traced == nullptr ||
      ShareOf(traced->grown_bytes, host_case) < kMuchOfTraces) {
    return std::nullopt;
  }
  const auto line = LineOf(host_case, *traced);
  HostCause cause = MakeHostCause(host_case, "RETRACING", traced->grown_bytes);
  cause.sentence = absl::StrCat(
      "The function ", traced->name, " was traced ", FormatCount(traced->times),
      " times", AtLine(line), ", and ", CountOf(traced->live, "graph"),
      " of it ", traced->live == 1 ? "is" : "are",
      " kept: the process grew by ", FormatBytes(traced->grown_bytes),
      " in the meantime, ", FormatBytes(traced->grown_bytes / traced->times),
      " for each.");
  if (traced->what.empty()) {
    absl::StrAppend(&cause.sentence,
                    " Its arguments are the same each time: the function "
                    "itself is created again.");
  } else {
    absl::StrAppend(&cause.sentence, " The argument that changes is ",
                    traced->what, ".");
  }
  cause.evidence =
      MakeEvidence("graphs", static_cast<double>(traced->live), "graphs");
  const std::string argument = traced->what.substr(0, traced->what.find(':'));
  cause.remedy = MakeRemedy(
      "stop_retracing", absl::StrCat("Have ", traced->name, " traced once"),
      traced->what.empty()
          ? "Create the tf.function, or the Keras model that owns it, once, "
            "outside the loop. Or drop those of earlier rounds: the object "
            "that fit() returns keeps its model (.model), so keep only its "
            ".history."
          : absl::StrCat("Hand it ", argument,
                         " as a tensor (tf.constant), not as a Python number "
                         "or object; if its shape changes, "
                         "use tf.function(reduce_retracing=True) or an "
                         "input_signature with None."),
      traced->grown_bytes);
  PointTo(line, &*cause.remedy);
  return cause;
}

std::optional<HostCause> FindCompileCache(const HostCase& host_case) {
  const HostActivity* const compiled = LargestActivity(
      host_case, schema::kCompileActivity, [](const HostActivity& activity) {
        return activity.live < kManyTraces ? 0 : activity.live;
      });
  const HostMemoryTrace& memory = host_case.host.host_memory;
  if (compiled == nullptr || IsTracedForValues(memory, compiled->name)) {
    return std::nullopt;
  }
  const uint64_t before = OtherMallocAt(memory, compiled->first_ns);
  const uint64_t now = OtherMallocAt(memory, INT64_MAX);
  const uint64_t grown = now - std::min(now, before);
  if (ShareOf(grown, host_case) < kMuchInExecutables) return std::nullopt;
  // A thread of TensorFlow's compiles; the program's line is where it was
  // traced.
  auto line = LineOf(host_case, *compiled);
  for (const HostActivity& traced : memory.activities) {
    if (!line.has_value() && traced.kind == schema::kTraceActivity &&
        traced.name == compiled->name) {
      line = LineOf(host_case, traced);
    }
  }
  HostCause cause = MakeHostCause(host_case, "COMPILE_CACHE", grown);
  cause.sentence =
      absl::StrCat("XLA compiled the function ", compiled->name, AtLine(line),
                   " ", FormatCount(compiled->live),
                   " times and keeps every version: its cache drops none. "
                   "Besides tensors and Python's objects, the process grew by ",
                   FormatBytes(grown), " since the first, ",
                   FormatBytes(grown / compiled->live), " for each.");
  cause.evidence = MakeEvidence(
      "executables", static_cast<double>(compiled->live), "executables");
  cause.remedy = MakeRemedy(
      "fewer_compilations",
      absl::StrCat("Have ", compiled->name, " compiled for a few shapes"),
      "XLA compiles it again for each new shape of its arguments: pad them to "
      "a few fixed sizes. Or do not compile it with XLA (jit_compile=False).",
      grown);
  PointTo(line, &*cause.remedy);
  return cause;
}

}  // namespace oom_forensics
