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
constexpr double kMuchInExecutables = 0.2;
// What a container held is worth a sentence.
constexpr double kMuchHeld = 0.1;
// So is what other processes have.
constexpr double kMuchElsewhere = 0.25;
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
          ? "Make the tf.function, or the model of Keras that has it, once, "
            "outside of the loop. Or keep none of those of earlier rounds: "
            "what fit() returns keeps its model (.model); keep its .history."
          : absl::StrCat("Hand it ", argument,
                         " as a tensor (tf.constant), not as a number or "
                         "another object of Python; where its shape changes, "
                         "use tf.function(reduce_retracing=True) or an "
                         "input_signature with None."),
      traced->grown_bytes);
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

// What a node of tf.data may keep.
struct Buffer {
  const HostActivity* node = nullptr;
  // At most, at the end.
  uint64_t bytes = 0;
  // Tensors of the size of an element that were live then.
  uint64_t tensors = 0;

  bool is_cache() const { return node->name == "cache"; }
  bool is_map() const { return node->name == "map"; }
  // It decides by itself how many elements it keeps (tf.data.AUTOTUNE).
  bool is_tuned() const { return node->live == 0 && !is_cache(); }
};

// It has no more than what came since it was made. Of one that decides by
// itself, what is live tells.
Buffer BufferOf(const HostCase& host_case, const HostActivity& node) {
  const HostMemoryTrace& memory = host_case.host.host_memory;
  const auto tensors_at = [&](int64_t time_ns) {
    // What a pool has taken it need not have touched.
    return std::min(QuantityAt(memory, schema::kRssAnon, time_ns),
                    QuantityAt(memory, schema::kHostTensors, time_ns) +
                        QuantityAt(memory, schema::kHostPools, time_ns));
  };
  const uint64_t now = tensors_at(INT64_MAX);
  const uint64_t came = now - std::min(now, tensors_at(node.first_ns));
  Buffer buffer;
  buffer.node = &node;
  if (host_case.blocks != nullptr && node.element_bytes != 0) {
    buffer.tensors =
        CountTensorsOf(host_case.host, *host_case.blocks, node.element_bytes);
  }
  const uint64_t elements = buffer.is_tuned() ? buffer.tensors : node.live;
  const bool is_bounded =
      buffer.is_tuned() || (elements != 0 && node.element_bytes != 0 &&
                            elements < came / node.element_bytes);
  buffer.bytes =
      is_bounded ? std::min(came, elements * node.element_bytes) : came;
  return buffer;
}

Remedy RemedyOf(const HostCase& host_case, const Buffer& buffer) {
  if (buffer.is_cache()) {
    Remedy remedy = MakeRemedy(
        "smaller_buffer", "Cache the dataset in a file, not in memory",
        "Give cache() the path of a file on a local disk.", buffer.bytes);
    remedy.set_code("dataset.cache(\"/path/of/a/file\")");
    return remedy;
  }
  const HostActivity& node = *buffer.node;
  const uint64_t had =
      QuantityAt(host_case.host.host_memory, schema::kRssAnon, node.first_ns);
  const uint64_t room = host_case.whole - std::min(host_case.whole, had);
  const uint64_t fits =
      node.element_bytes == 0
          ? 0
          : static_cast<uint64_t>(static_cast<double>(room) * kRoomForBuffer) /
                node.element_bytes;
  const std::string what = buffer.is_map()
                               ? "Or have each call make a smaller element."
                               : "Or shuffle names or numbers, and read them "
                                 "after that.";
  const std::string argument =
      buffer.is_map() ? "num_parallel_calls" : "buffer_size";
  Remedy remedy = MakeRemedy(
      "smaller_buffer", absl::StrCat("Let ", node.name, "() keep less"),
      fits == 0 ? absl::StrCat("Give it a smaller ", argument,
                               ". Or let it have smaller elements.")
                : absl::StrCat("Give it a ", argument, " of ", fits,
                               " at most: they take half of what the limit "
                               "left when it was made. ",
                               buffer.node->name == "prefetch" ? "" : what),
      buffer.bytes);
  if (fits != 0) {
    remedy.set_code(buffer.is_map()
                        ? absl::StrCat("dataset.map(function, "
                                       "num_parallel_calls=",
                                       fits, ")")
                        : absl::StrCat("dataset.", node.name, "(", fits, ")"));
  }
  return remedy;
}

// A node of tf.data keeps many elements.
std::optional<HostCause> FindPipelineBuffer(const HostCase& host_case) {
  Buffer buffer;
  for (const HostActivity& node : host_case.host.host_memory.activities) {
    if (node.kind != schema::kBufferActivity) continue;
    const Buffer other = BufferOf(host_case, node);
    if (other.bytes > buffer.bytes) buffer = other;
  }
  if (ShareOf(buffer.bytes, host_case) < kMuchInBuffer) return std::nullopt;
  const HostActivity& node = *buffer.node;
  const auto line = LineOf(host_case, node);
  const bool is_sized = node.element_bytes != 0;
  const std::string size = FormatBytes(node.element_bytes);
  HostCause cause;
  cause.kind = "PIPELINE_BUFFER";
  cause.share = ShareOf(buffer.bytes, host_case);
  cause.sentence =
      absl::StrCat("The dataset's ", buffer.is_map() ? "parallel " : "",
                   node.name, "()", AtLine(line), " keeps ");
  if (buffer.is_cache()) {
    absl::StrAppend(&cause.sentence, "all elements",
                    is_sized ? absl::StrCat(", of ", size, " each") : "");
  } else if (buffer.is_tuned()) {
    absl::StrAppend(&cause.sentence,
                    "as many elements as it finds best (AUTOTUNE), of ", size,
                    " each");
  } else {
    absl::StrAppend(
        &cause.sentence, "up to ", CountOf(node.live, "element"),
        is_sized ? absl::StrCat(" of ", size, ", ",
                                FormatBytes(node.element_bytes * node.live),
                                " together")
                 : "");
  }
  absl::StrAppend(
      &cause.sentence, ". TensorFlow's memory grew by ",
      FormatBytes(buffer.bytes), " since it was made; ",
      buffer.tensors == 0
          ? "how many elements it had by then is not recorded."
          : absl::StrCat(CountOf(buffer.tensors, "tensor"), " of that size ",
                         buffer.tensors == 1 ? "was" : "were",
                         " live at the end."));
  cause.evidence =
      MakeEvidence("buffer_bytes", static_cast<double>(buffer.bytes), "bytes");
  cause.remedy = RemedyOf(host_case, buffer);
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

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

// XLA compiles a function again and again, and keeps all that it compiled.
std::optional<HostCause> FindCompileCache(const HostCase& host_case) {
  const HostActivity* const compiled = LargestOf(
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
  HostCause cause;
  cause.kind = "COMPILE_CACHE";
  cause.share = ShareOf(grown, host_case);
  cause.sentence = absl::StrCat(
      "XLA compiled the function ", compiled->name, AtLine(line), " ",
      FormatCount(compiled->live),
      " times and keeps all of that: its cache drops none. Beside tensors and "
      "Python's objects the process grew by ",
      FormatBytes(grown), " since the first, ",
      FormatBytes(grown / compiled->live), " for each.");
  cause.evidence = MakeEvidence(
      "executables", static_cast<double>(compiled->live), "executables");
  cause.remedy = MakeRemedy(
      "fewer_compilations",
      absl::StrCat("Have ", compiled->name, " compiled for a few shapes"),
      "XLA compiles it again for each other shape of its arguments: pad them "
      "to a few fixed sizes. Or compile it without XLA (jit_compile=False).",
      grown);
  if (line.has_value()) *cause.remedy->mutable_line() = *line;
  return cause;
}

// Other processes use up what they share with this one.
std::optional<HostCause> FindOtherProcesses(const HostCase& host_case) {
  const HostMemoryTrace& memory = host_case.host.host_memory;
  const uint64_t used = memory.Last(schema::kHostUsed);
  const uint64_t own = memory.Last(schema::kRssAnon) +
                       memory.Last(schema::kRssShmem) +
                       memory.Last(schema::kHostCache);
  const uint64_t others = used - std::min(used, own);
  if (ShareOf(others, host_case) < kMuchElsewhere) return std::nullopt;
  const bool is_cgroup = memory.NumberOf(schema::kHostLimit) != 0;
  HostCause cause;
  cause.kind = "OTHER_PROCESSES";
  cause.share = ShareOf(others, host_case);
  cause.sentence = absl::StrCat(
      FormatBytes(others), " of what was in use were not this process's own, ",
      "but other processes' of the ", is_cgroup ? "cgroup" : "machine",
      ": its own workers, if it has any.");
  cause.evidence =
      MakeEvidence("other_bytes", static_cast<double>(others), "bytes");
  cause.remedy = MakeRemedy(
      "fewer_workers", "Have fewer worker processes, or smaller ones",
      "Each worker that is forked has memory of its own for all that it loads "
      "or writes to. Start them before the program loads its data, let them "
      "hand over what they make piece by piece, or use threads (tf.data).",
      others);
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

// Of the blocks that a line made and that are kept; 0: not known.
uint64_t MeanBytes(const HostMemoryHolder& holder) {
  return holder.count() == 0 || holder.estimated() || !holder.has_line()
             ? 0
             : holder.bytes() / holder.count();
}

bool IsDataSet(const HostMemoryHolder& holder, const HostCase& host_case) {
  return ShareOf(MeanBytes(holder), host_case) >= kLargeBlock;
}

// One block that takes much of the limit.
std::optional<HostCause> FindDataSet(const HostCase& host_case) {
  const HostMemoryHolder* largest = nullptr;
  for (const HeldByLine& held : host_case.held) {
    if (IsDataSet(held.holder, host_case) &&
        (largest == nullptr || MeanBytes(held.holder) > MeanBytes(*largest))) {
      largest = &held.holder;
    }
  }
  if (largest == nullptr) return std::nullopt;
  HostCause cause;
  cause.kind = "HOST_DATA_SET";
  cause.share = ShareOf(largest->bytes(), host_case);
  cause.sentence = absl::StrCat("A block of ", FormatBytes(MeanBytes(*largest)),
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

// Who held most arrays and tensors when Python looked last, in words; empty: it
// did not look, or that is little.
std::string HeldBy(const HostCase& host_case) {
  const HostActivity* const holder = LargestOf(
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

// Where the program was when Python looked last; empty: that is not known.
std::string WhereItWas(const HostCase& host_case) {
  const HostActivity* const last = LargestOf(
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

std::optional<HostCause> FindGrowth(const HostCase& host_case) {
  const HostGrowth& growth = host_case.growth;
  if (growth.bytes_per_s == 0) return std::nullopt;
  HostCause cause;
  cause.kind = "HOST_GROWTH";
  cause.share = ShareOf(growth.bytes, host_case);
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
  if (is_known && IsDataSet(*grower, host_case)) return cause;
  if (!is_known) {
    absl::StrAppend(&cause.sentence, HeldBy(host_case), WhereItWas(host_case));
    if (host_case.host.host_memory.NumberOf(schema::kHostWatched) == 0) {
      absl::StrAppend(
          &cause.sentence,
          " Which line of the program makes it is not known: start it with "
          "`oom-forensics run -- python ...`, which watches NumPy and Python, "
          "too.");
    }
    return cause;
  }
  absl::StrAppend(&cause.sentence, " What ",
                  grower->has_line() ? LongLineText(grower->line())
                                     : "op " + grower->owner(),
                  " makes is kept: ", FormatBytes(grower->bytes()), " in ",
                  CountOf(grower->count(), "block"), ", ",
                  FormatBytes(grower->growth_bytes_per_s()), " a second more.");
  if (!most->callers.empty()) {
    absl::StrAppend(&cause.sentence, " It is called by ",
                    LongLineText(most->callers.front()), ".");
  }
  absl::StrAppend(&cause.sentence, HeldBy(host_case));
  cause.remedy = MakeRemedy(
      "release_host_growth",
      absl::StrCat("Do not keep all that ",
                   grower->has_line() ? ShortLine(grower->line())
                                      : "op " + grower->owner(),
                   " makes"),
      "Keep sums or the last few of them, write them to a file, or bound "
      "what keeps them (collections.deque(maxlen=...)).",
      grower->bytes());
  if (grower->has_line()) *cause.remedy->mutable_line() = grower->line();
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
      "trim_malloc", "Have malloc give back what was freed",
      "Call malloc_trim(0) of the C library after the work that frees it. Or "
      "start the program with MALLOC_MMAP_THRESHOLD_=65536, so that larger "
      "blocks go back at once; where many threads allocate, with "
      "MALLOC_ARENA_MAX=2.",
      held);
  cause.remedy->set_code("import ctypes; ctypes.CDLL(None).malloc_trim(0)");
  cause.remedy->mutable_values()->set_setting("MALLOC_MMAP_THRESHOLD_=65536");
  return cause;
}

struct Finder {
  std::optional<HostCause> (*find)(const HostCase&);
  // It says by itself why the process grew.
  bool explains_growth;
};
constexpr Finder kFinders[] = {
    {FindCompileCache, true},    {FindRetracing, true},
    {FindPipelineBuffer, true},  {FindCheckpoint, true},
    {FindOtherProcesses, false}, {FindDataSet, false},
    {FindHeldByMalloc, false},   {FindGrowth, false},
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
