#include "converter/forensics/host_memory/host_causes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/forensics/source_frames.h"
#include "converter/text/text.h"
#include "converter/trace/site_source.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// A line made what grew if it made this part of it.
constexpr double kMostOfGrowth = 0.5;
// One block that is this part of the limit is a data set as a whole.
constexpr double kLargeBlock = 0.4;
// What malloc holds back is the cause if it is this part of the limit.
constexpr double kMuchHeldByMalloc = 0.25;
// So is what traces took, what a buffer holds, what a save took at its peak.
constexpr double kMuchOfTraces = 0.2;
constexpr double kMuchInBuffer = 0.25;
constexpr double kMuchInSave = 0.1;
// A function that was traced less often is not traced without bound; as of an
// out-of-memory of a pool (forensics/causes).
constexpr uint64_t kManyTraces = 6;
// A buffer may have this part of what there was before it was made.
constexpr double kRoomForBuffer = 0.5;

std::string ShortLine(const SourceFrame& line) {
  return absl::StrCat(Absl(BaseName(line.file())), ":", line.line());
}

// "line 12 of train.py (`kept.append(batch)`)"
std::string LongLineText(const SourceFrame& line) {
  std::string text =
      absl::StrCat("line ", line.line(), " of ", Absl(BaseName(line.file())));
  if (!line.text().empty()) absl::StrAppend(&text, " (`", line.text(), "`)");
  return text;
}

double ShareOf(uint64_t bytes, const HostCase& host_case) {
  return host_case.whole == 0 ? 0
                              : static_cast<double>(bytes) /
                                    static_cast<double>(host_case.whole);
}

Evidence MakeEvidence(const std::string& name, double value,
                      const std::string& unit) {
  Evidence evidence;
  evidence.set_name(name);
  evidence.set_value(value);
  evidence.set_unit(unit);
  return evidence;
}

Remedy MakeRemedy(const std::string& kind, const std::string& title,
                  const std::string& detail, uint64_t bytes) {
  Remedy remedy;
  remedy.set_kind(kind);
  remedy.set_title(title);
  remedy.set_detail(detail);
  remedy.set_bytes(bytes);
  remedy.set_sufficiency(UNCERTAIN);
  return remedy;
}

// The user's innermost line of an activity.
std::optional<SourceFrame> LineOf(const HostCase& host_case,
                                  const HostActivity& activity) {
  if (activity.stack == kNoStack) return std::nullopt;
  const LineId line = host_case.host.source.StackAt(activity.stack).user_line;
  if (line == kNoLine) return std::nullopt;
  return MakeSourceFrame(host_case.host, line);
}

// " at line 12 of train.py (`...`)"; empty where it is not known.
std::string AtLine(const std::optional<SourceFrame>& line) {
  return line.has_value() ? absl::StrCat(" at ", LongLineText(*line)) : "";
}

// Of the activities of a kind the one that most(activity) says most of.
template <typename Most>
const HostActivity* LargestOf(const HostCase& host_case, std::string_view kind,
                              Most most) {
  const HostActivity* largest = nullptr;
  for (const HostActivity& activity : host_case.host.host_memory.activities) {
    if (activity.kind == kind && most(activity) > 0 &&
        (largest == nullptr || most(activity) > most(*largest))) {
      largest = &activity;
    }
  }
  return largest;
}

// A quantity at a moment; 0 before its first sample.
uint64_t QuantityAt(const HostMemoryTrace& memory, std::string_view name,
                    int64_t time_ns) {
  const HostQuantity* const quantity = memory.Find(name);
  if (quantity == nullptr) return 0;
  const auto after = std::upper_bound(quantity->time_ns.begin(),
                                      quantity->time_ns.end(), time_ns);
  return after == quantity->time_ns.begin()
             ? 0
             : quantity->bytes[static_cast<size_t>(
                   after - quantity->time_ns.begin() - 1)];
}

// A function is traced again and again, and its graphs are kept.
std::optional<HostCause> FindRetracing(const HostCase& host_case) {
  const HostActivity* const traced = LargestOf(
      host_case, schema::kTraceActivity, [](const HostActivity& activity) {
        return activity.times < kManyTraces ? 0 : activity.grown_bytes;
      });
  if (traced == nullptr ||
      ShareOf(traced->grown_bytes, host_case) < kMuchOfTraces) {
    return std::nullopt;
  }
  const auto line = LineOf(host_case, *traced);
  HostCause cause;
  cause.kind = "RETRACING";
  cause.share = ShareOf(traced->grown_bytes, host_case);
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
                    "itself is made again.");
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
          ? "Make the tf.function once, outside of the loop."
          : absl::StrCat("Hand it ", argument,
                         " as a tensor (tf.constant), not as a number or "
                         "another object of Python; where its shape changes, "
                         "use tf.function(reduce_retracing=True) or an "
                         "input_signature with None."),
      traced->grown_bytes);
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

// A node of tf.data keeps many elements.
std::optional<HostCause> FindPipelineBuffer(const HostCase& host_case) {
  const HostMemoryTrace& memory = host_case.host.host_memory;
  const auto tensors_at = [&](int64_t time_ns) {
    return QuantityAt(memory, schema::kHostTensors, time_ns) +
           QuantityAt(memory, schema::kHostPools, time_ns);
  };
  // What it can have is bounded by what came since it was made. How many
  // elements tf.data prefetches by itself, it keeps small.
  const auto holds = [&](const HostActivity& buffer) {
    const uint64_t now = tensors_at(INT64_MAX);
    const uint64_t came = now - std::min(now, tensors_at(buffer.first_ns));
    if (buffer.live == 0) return buffer.name == "cache" ? came : 0;
    return buffer.element_bytes != 0 &&
                   buffer.live < came / buffer.element_bytes
               ? buffer.live * buffer.element_bytes
               : came;
  };
  const HostActivity* const buffer =
      LargestOf(host_case, schema::kBufferActivity, holds);
  if (buffer == nullptr || ShareOf(holds(*buffer), host_case) < kMuchInBuffer) {
    return std::nullopt;
  }
  const auto line = LineOf(host_case, *buffer);
  const bool is_cache = buffer->name == "cache";
  HostCause cause;
  cause.kind = "PIPELINE_BUFFER";
  cause.share = ShareOf(holds(*buffer), host_case);
  const bool is_sized = buffer->element_bytes != 0;
  const std::string size = FormatBytes(buffer->element_bytes);
  cause.sentence = absl::StrCat(
      "The dataset's ", buffer->name, "()", AtLine(line), " keeps ",
      is_cache ? absl::StrCat("all elements",
                              is_sized ? ", of " + size + " each" : "")
               : absl::StrCat(
                     "up to ", CountOf(buffer->live, "element"),
                     is_sized ? absl::StrCat(" of ", size, ", ",
                                             FormatBytes(buffer->element_bytes *
                                                         buffer->live),
                                             " together")
                              : ""),
      ". TensorFlow's memory grew by ", FormatBytes(holds(*buffer)),
      " since it was made; how many elements it had by then is not recorded.");
  cause.evidence = MakeEvidence("buffer_bytes",
                                static_cast<double>(holds(*buffer)), "bytes");
  if (is_cache) {
    cause.remedy = MakeRemedy(
        "smaller_buffer", "Cache the dataset in a file, not in memory",
        "Give cache() the path of a file on a local disk.", holds(*buffer));
    cause.remedy->set_code("dataset.cache(\"/path/of/a/file\")");
  } else {
    const uint64_t had = QuantityAt(memory, schema::kRssAnon, buffer->first_ns);
    const uint64_t room = host_case.whole - std::min(host_case.whole, had);
    const uint64_t fits =
        buffer->element_bytes == 0
            ? 0
            : static_cast<uint64_t>(static_cast<double>(room) *
                                    kRoomForBuffer) /
                  buffer->element_bytes;
    cause.remedy = MakeRemedy(
        "smaller_buffer", absl::StrCat("Let ", buffer->name, "() keep less"),
        fits == 0
            ? "Give it a smaller buffer_size, or smaller elements: "
              "shuffle names or numbers, and read them after that."
            : absl::StrCat("Give it a buffer_size of ", fits,
                           " at most: they take half of what the limit left "
                           "when it was made. Or shuffle names or numbers, and "
                           "read them after that."),
        holds(*buffer));
    if (fits != 0) {
      cause.remedy->set_code(
          absl::StrCat("dataset.", buffer->name, "(", fits, ")"));
    }
  }
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

// The process died while it saved, and by what that took.
std::optional<HostCause> FindCheckpoint(const HostCase& host_case) {
  const uint64_t own = host_case.host.host_memory.Last(schema::kRssAnon);
  const auto took = [&](const HostActivity& save) {
    return save.under_way ? own - std::min(own, save.begin_bytes) : 0;
  };
  const HostActivity* const save =
      LargestOf(host_case, schema::kSaveActivity, took);
  if (save == nullptr || ShareOf(took(*save), host_case) < kMuchInSave) {
    return std::nullopt;
  }
  const auto line = LineOf(host_case, *save);
  HostCause cause;
  cause.kind = "CHECKPOINT";
  cause.share = ShareOf(took(*save), host_case);
  cause.sentence = absl::StrFormat(
      "The process died within %s()%s, %.1f s after that began: it had %s "
      "before and %s more by then.",
      save->name, AtLine(line),
      static_cast<double>(host_case.growth.to_ns - save->last_ns) / 1e9,
      FormatBytes(save->begin_bytes), FormatBytes(took(*save)));
  cause.evidence =
      MakeEvidence("save_bytes", static_cast<double>(took(*save)), "bytes");
  cause.remedy = MakeRemedy(
      "save_in_place", "Save without a second copy in memory",
      "tf.train.Checkpoint writes the variables from where they lie. Keras "
      "puts a model's file together in memory first.",
      took(*save));
  cause.remedy->set_code("tf.train.Checkpoint(model=model).write(path)");
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

// One block that takes much of the limit.
std::optional<HostCause> FindDataSet(const HostCase& host_case) {
  const HostMemoryHolder* largest = nullptr;
  uint64_t largest_bytes = 0;
  for (const HeldByLine& held : host_case.held) {
    const HostMemoryHolder& holder = held.holder;
    if (holder.count() == 0 || holder.estimated() || !holder.has_line()) {
      continue;
    }
    const uint64_t bytes = holder.bytes() / holder.count();
    if (bytes > largest_bytes) {
      largest_bytes = bytes;
      largest = &holder;
    }
  }
  if (largest == nullptr || ShareOf(largest_bytes, host_case) < kLargeBlock) {
    return std::nullopt;
  }
  HostCause cause;
  cause.kind = "HOST_DATA_SET";
  cause.share = ShareOf(largest->bytes(), host_case);
  cause.sentence = absl::StrCat("A block of ", FormatBytes(largest_bytes),
                                " was made as a whole at ",
                                LongLineText(largest->line()), ".");
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
  HostCause cause;
  cause.kind = "HOST_GROWTH";
  cause.share = ShareOf(growth.bytes, host_case);
  cause.sentence =
      absl::StrFormat("The process grew by %s a second for its last %.1f s.",
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
      grower != nullptr && grower->has_line() &&
      static_cast<double>(grower->growth_bytes_per_s()) >
          kMostOfGrowth * static_cast<double>(growth.bytes_per_s);
  if (!is_known) {
    if (host_case.host.host_memory.NumberOf(schema::kHostWatched) == 0) {
      absl::StrAppend(
          &cause.sentence,
          " Which line of the program makes it is not known: start it with "
          "`oom-forensics run -- python ...`, which watches NumPy and Python, "
          "too.");
    }
    return cause;
  }
  absl::StrAppend(&cause.sentence, " What ", LongLineText(grower->line()),
                  " makes is kept: ", FormatBytes(grower->bytes()), " in ",
                  CountOf(grower->count(), "block"), ", ",
                  FormatBytes(grower->growth_bytes_per_s()), " a second more.");
  if (!most->callers.empty()) {
    absl::StrAppend(&cause.sentence, " It is called by ",
                    LongLineText(most->callers.front()), ".");
  }
  cause.remedy = MakeRemedy(
      "release_host_growth",
      absl::StrCat("Do not keep all that ", ShortLine(grower->line()),
                   " makes"),
      "Keep sums or the last few of them, write them to a file, or bound "
      "what keeps them (collections.deque(maxlen=...)).",
      grower->bytes());
  *cause.remedy->mutable_line() = grower->line();
  return cause;
}

std::optional<HostCause> FindHeldByMalloc(const HostCase& host_case) {
  const uint64_t held =
      host_case.host.host_memory.Last(schema::kHostMallocFree);
  if (ShareOf(held, host_case) < kMuchHeldByMalloc) return std::nullopt;
  HostCause cause;
  cause.kind = "HELD_BY_MALLOC";
  cause.share = ShareOf(held, host_case);
  cause.sentence =
      absl::StrCat(FormatBytes(held),
                   " were freed by the program and are still held by malloc.");
  cause.evidence =
      MakeEvidence("malloc_free_bytes", static_cast<double>(held), "bytes");
  cause.remedy = MakeRemedy(
      "fewer_arenas", "Let malloc give back what was freed",
      "Set MALLOC_ARENA_MAX=2 and MALLOC_TRIM_THRESHOLD_=131072 before the "
      "program starts, or load tcmalloc with LD_PRELOAD.",
      held);
  cause.remedy->set_code("MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072");
  cause.remedy->mutable_values()->set_setting("MALLOC_ARENA_MAX=2");
  return cause;
}

struct Finder {
  std::optional<HostCause> (*find)(const HostCase&);
  // It says by itself why the process grew.
  bool explains_growth;
};
constexpr Finder kFinders[] = {
    {FindRetracing, true},  {FindPipelineBuffer, true},
    {FindCheckpoint, true}, {FindDataSet, false},
    {FindGrowth, false},    {FindHeldByMalloc, false},
};

}  // namespace

std::vector<HostCause> FindHostCauses(const HostCase& host_case) {
  std::vector<HostCause> causes;
  bool is_explained = false;
  for (const Finder& finder : kFinders) {
    std::optional<HostCause> cause = finder.find(host_case);
    if (!cause.has_value()) continue;
    // To keep less of it is no advice where it is known what it is kept for.
    if (finder.find == FindGrowth && is_explained) cause->remedy.reset();
    is_explained |= finder.explains_growth;
    causes.push_back(*std::move(cause));
  }
  return causes;
}

}  // namespace oom_forensics
