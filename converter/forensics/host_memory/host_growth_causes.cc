#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/forensics/host_memory/host_predicates.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// A line made what grew if it made this part of it.
constexpr double kMostOfGrowth = 0.5;
// One block that is this part of the limit is a data set as a whole.
constexpr double kLargeBlock = 0.4;
// What a line made and was live is the cause if it is this part of the limit.
constexpr double kMuchLive = 0.25;
// What a container held is worth a sentence.
constexpr double kMuchHeld = 0.1;

// An op that makes a tensor of what Python has, as tf.constant(array) does.
bool IsConstant(const std::string& op) {
  return op.find("Const") != std::string::npos;
}

bool IsDataSet(const HeldByLine& held, const HostCase& host_case) {
  return held.holder.has_line() &&
         ShareOf(held.largest_bytes, host_case) >= kLargeBlock;
}

// Who held most arrays and tensors when Python looked last, in words; empty: it
// did not look, or that is little.
std::string HeldBy(const HostCase& host_case) {
  const HostActivity* const holder = LargestActivity(
      host_case, schema::kHolderActivity,
      [](const HostActivity& activity) { return activity.element_bytes; });
  if (holder == nullptr ||
      ShareOf(holder->element_bytes, host_case) < kMuchHeld) {
    return "";
  }
  const auto line = LineOf(host_case, *holder);
  return absl::StrCat(
      " When ", holder->what, " % of the limit were in use, ",
      FormatBytes(holder->element_bytes),
      " of arrays and tensors were kept by ", holder->name,
      line.has_value() ? absl::StrCat(" (", ShortLine(*line), ")") : "", ".");
}

// For what one line makes and has live at a time.
Remedy HoldLess(const HostMemoryHolder& holder) {
  Remedy remedy = MakeRemedy(
      "hold_less",
      absl::StrCat("Have less of what ", ShortLine(holder.line()),
                   " makes live at a time"),
      "Let go of it sooner, or make it smaller: a smaller batch, fewer steps "
      "under one tf.GradientTape, a smaller dtype.",
      holder.bytes());
  *remedy.mutable_line() = holder.line();
  return remedy;
}

// Where the program was when Python looked last; empty: that is not known.
std::string WhereItWas(const HostCase& host_case) {
  const HostActivity* const last = LargestActivity(
      host_case, schema::kStackActivity, [](const HostActivity& activity) {
        return static_cast<uint64_t>(std::max<int64_t>(0, activity.last_ns));
      });
  if (last == nullptr) return "";
  const auto line = LineOf(host_case, *last);
  return line.has_value() ? absl::StrCat(" When ", last->what,
                                         " % of the limit were in use, the "
                                         "program was at ",
                                         LongLineText(*line), ".")
                          : "";
}

}  // namespace

std::optional<HostCause> FindDataSet(const HostCase& host_case) {
  const HeldByLine* most = nullptr;
  for (const HeldByLine& held : host_case.held) {
    if (IsDataSet(held, host_case) &&
        (most == nullptr || held.largest_bytes > most->largest_bytes)) {
      most = &held;
    }
  }
  if (most == nullptr) return std::nullopt;
  const HostMemoryHolder* const largest = &most->holder;
  HostCause cause = MakeHostCause(host_case, "HOST_DATA_SET", largest->bytes());
  cause.sentence = absl::StrCat("A block of ", FormatBytes(most->largest_bytes),
                                " was made as a whole at ",
                                LongLineText(largest->line()), ".");
  if (most->is_tensor && !IsConstant(largest->owner())) {
    cause.remedy = HoldLess(*largest);
    return cause;
  }
  cause.remedy = MakeRemedy(
      "stream_data_set",
      absl::StrCat("Do not load what ", ShortLine(largest->line()),
                   " makes as a whole"),
      "Map it from its file (numpy.load(path, mmap_mode='r')) or read it "
      "piece by piece (tf.data.Dataset.from_generator, TFRecord).",
      largest->bytes());
  *cause.remedy->mutable_line() = largest->line();
  return cause;
}

std::optional<HostCause> FindGrowth(const HostCase& host_case) {
  const HostGrowth& growth = host_case.growth;
  if (growth.bytes_per_s == 0) return std::nullopt;
  HostCause cause = MakeHostCause(host_case, "HOST_GROWTH", growth.bytes);
  cause.sentence = absl::StrFormat(
      "The process grew by %s a second over the %.1f s before memory ran out.",
      FormatBytes(growth.bytes_per_s),
      static_cast<double>(growth.to_ns - growth.from_ns) / 1e9);
  cause.evidence = MakeEvidence(
      "growth", static_cast<double>(growth.bytes_per_s), "bytes/second");
  const HeldByLine* most = nullptr;
  for (const HeldByLine& held : host_case.held) {
    if (most == nullptr ||
        held.holder.growth_bytes_per_s() > most->holder.growth_bytes_per_s()) {
      most = &held;
    }
  }
  const HostMemoryHolder* const grower =
      most == nullptr ? nullptr : &most->holder;
  const bool is_known =
      grower != nullptr && (grower->has_line() || most->is_tensor) &&
      static_cast<double>(grower->growth_bytes_per_s()) >
          kMostOfGrowth * static_cast<double>(growth.bytes_per_s);
  // A block as a whole is told as such.
  if (is_known && IsDataSet(*most, host_case)) return cause;
  if (!is_known) {
    absl::StrAppend(&cause.sentence, HeldBy(host_case), WhereItWas(host_case));
    if (host_case.host.host_memory.NumberOf(schema::kHostWatched) == 0) {
      absl::StrAppend(&cause.sentence,
                      " The line of the program that makes it is not known: "
                      "start the program with "
                      "`oom-forensics run -- python ...`, which also watches "
                      "NumPy and Python.");
    }
    return cause;
  }
  absl::StrAppend(&cause.sentence, " What ",
                  grower->has_line() ? LongLineText(grower->line())
                                     : "op " + grower->owner(),
                  " makes stays in memory: ", FormatBytes(grower->bytes()),
                  " in ", CountOf(grower->count(), "block"), ", ",
                  FormatBytes(grower->growth_bytes_per_s()), " a second more.");
  if (!most->callers.empty()) {
    absl::StrAppend(&cause.sentence, " It is called by ",
                    LongLineText(most->callers.front()), ".");
  }
  absl::StrAppend(&cause.sentence, HeldBy(host_case));
  cause.remedy = MakeRemedy(
      "release_host_growth",
      absl::StrCat("Do not keep everything that ",
                   grower->has_line() ? ShortLine(grower->line())
                                      : "op " + grower->owner(),
                   " makes"),
      absl::StrCat(
          "Keep sums or the last few of them, write them to a file, or bound "
          "what keeps them (collections.deque(maxlen=...)).",
          most->is_tensor ? " A tf.GradientTape keeps what is made under it: "
                            "have fewer steps under one."
                          : ""),
      grower->bytes());
  if (grower->has_line()) *cause.remedy->mutable_line() = grower->line();
  return cause;
}

std::optional<HostCause> FindMuchLive(const HostCase& host_case) {
  if (host_case.held.empty()) return std::nullopt;
  const HostMemoryHolder& most = host_case.held.front().holder;
  if (!most.has_line() || ShareOf(most.bytes(), host_case) < kMuchLive) {
    return std::nullopt;
  }
  HostCause cause = MakeHostCause(host_case, "HOST_LIVE", most.bytes());
  cause.sentence =
      absl::StrCat("What ", LongLineText(most.line()),
                   " makes was live: ", FormatBytes(most.bytes()), " in ",
                   CountOf(most.count(), "block"), ".", HeldBy(host_case));
  cause.remedy = HoldLess(most);
  return cause;
}

}  // namespace oom_forensics
