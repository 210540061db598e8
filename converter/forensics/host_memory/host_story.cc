#include "converter/forensics/host_memory/host_story.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/forensics/host_memory/host_growth.h"
#include "converter/forensics/host_memory/host_parts.h"
#include "converter/text/text.h"
#include "converter/trace/site_source.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

constexpr size_t kHolders = 20;
// From this part of the limit on memory is short.
constexpr double kShort = 0.9;
// A line made what grew if it made this part of it.
constexpr double kMostOfGrowth = 0.5;
// One block that is this part of the limit is a data set as a whole.
constexpr double kLargeBlock = 0.4;
// What malloc holds back is the cause if it is this part of the limit.
constexpr double kMuchHeldByMalloc = 0.25;

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

std::string NameOfSignal(uint64_t signal) {
  switch (signal) {
    case SIGKILL:
      return "SIGKILL";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGTERM:
      return "SIGTERM";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGINT:
      return "SIGINT";
    default:
      return absl::StrCat("signal ", signal);
  }
}

class HostStory {
 public:
  HostStory(const HostTrace& host, const AllocatorReplay* blocks,
            HostMemorySeries* series)
      : host_(host),
        memory_(host.host_memory),
        blocks_(blocks),
        series_(*series),
        limit_(memory_.NumberOf(schema::kHostLimit)),
        machine_(memory_.NumberOf(schema::kHostMachine)),
        used_(memory_.Last(schema::kHostUsed)),
        growth_(GrowthAtLast(memory_)) {}

  void Tell() {
    series_.set_limit_bytes(limit_);
    series_.set_machine_bytes(machine_);
    series_.set_cgroup(memory_.TextOf(schema::kHostCgroup));
    series_.set_command(memory_.TextOf(schema::kHostCommand));
    if (growth_.bytes_per_s != 0) {
      series_.set_growth_bytes_per_s(growth_.bytes_per_s);
      series_.set_growth_from_ns(growth_.from_ns);
      series_.set_growth_to_ns(growth_.to_ns);
    }
    if (blocks_ != nullptr) {
      held_ = HoldersByLine(host_, *blocks_, growth_, kHolders);
      for (const HeldByLine& held : held_) {
        *series_.add_holders() = held.holder;
      }
    }
    TellEnd();
    if (series_.has_end()) TellVerdict();
  }

 private:
  // What the process may have.
  uint64_t Whole() const { return limit_ == 0 ? machine_ : limit_; }
  bool IsShort() const {
    return Whole() != 0 &&
           static_cast<double>(used_) > kShort * static_cast<double>(Whole());
  }

  std::string LimitText() const {
    if (limit_ == 0) {
      return absl::StrCat("the machine has ", FormatBytes(machine_));
    }
    return absl::StrCat("its cgroup ", memory_.TextOf(schema::kHostCgroup),
                        " may use ", FormatBytes(limit_));
  }

  void TellEnd() {
    const std::string kind = memory_.TextOf(schema::kHostEnd);
    if (kind.empty()) return;
    const uint64_t signal = memory_.NumberOf(schema::kHostSignal);
    ProcessEnd& end = *series_.mutable_end();
    end.set_kind(kind);
    end.set_signal(static_cast<uint32_t>(signal));
    end.set_exit_code(memory_.TextOf(schema::kHostExitCode));
    end.set_seen(memory_.TextOf(schema::kHostEndSeen));
    end.set_time_ns(host_.facts.stop_ns);
    if (kind == "kernel") {
      end.set_sentence(absl::StrCat(
          "The kernel killed the process (SIGKILL) for want of memory: ",
          LimitText(), "."));
    } else if (kind == "abort") {
      end.set_sentence("The process aborted (SIGABRT): a check in C++ failed.");
    } else if (kind == "exit_call") {
      end.set_sentence(absl::StrCat("The process ended at once with exit code ",
                                    end.exit_code(),
                                    ", without running its handlers."));
    } else if (kind == "signal") {
      end.set_sentence(
          absl::StrCat("The process was ended by ", NameOfSignal(signal), "."));
    } else {
      end.set_sentence(
          "The process ended without a word: something killed it, or it "
          "crashed.");
    }
  }

  void AddPart(const std::string& kind, double share,
               const std::string& sentence) {
    VerdictPart* const part = series_.mutable_verdict()->add_parts();
    part->set_kind(kind);
    part->set_share(share);
    part->set_sentence(sentence);
  }

  void AddEvidence(const std::string& name, double value,
                   const std::string& unit, const std::string& sentence) {
    Evidence* const evidence = series_.mutable_verdict()->add_evidence();
    evidence->set_name(name);
    evidence->set_value(value);
    evidence->set_unit(unit);
    evidence->set_sentence(sentence);
  }

  void TellVerdict() {
    Verdict& verdict = *series_.mutable_verdict();
    const std::string& kind = series_.end().kind();
    const std::string in_use = absl::StrCat(
        FormatBytes(used_), " of ", FormatBytes(Whole()), " were in use");
    AddEvidence("used_bytes", static_cast<double>(used_), "bytes",
                absl::StrCat("At the last sample ", in_use, "."));
    const bool may_be_killed =
        kind == "unknown" ||
        (kind == "signal" && series_.end().signal() == SIGKILL);
    if (kind == "kernel" || (may_be_killed && IsShort())) {
      verdict.set_kind("HOST_KILLED");
      verdict.set_sentence(absl::StrCat(
          kind == "kernel" ? "The kernel killed the process for want of memory"
                           : "Memory was used up when the process was killed",
          ": ", LimitText(), ", and ", FormatBytes(used_),
          " were in use at the last look."));
      if (kind != "kernel") {
        verdict.set_doubt(
            "who killed it is not known; memory was short, so it was likely "
            "the kernel");
      }
    } else if (IsShort()) {
      verdict.set_kind("UNKNOWN");
      verdict.set_sentence(
          absl::StrCat("Memory was nearly used up, ", in_use,
                       ", but that is not what ended the process by itself."));
    } else {
      verdict.set_kind("NOT_MEMORY");
      verdict.set_sentence(
          absl::StrCat("The memory of the host was not short: ", in_use, "."));
    }
    AddPart(verdict.kind(), 1, verdict.sentence());
    if (verdict.kind() == "NOT_MEMORY") return;
    TellDataSet();
    TellGrowth();
    TellHeldByMalloc();
  }

  void TellGrowth() {
    if (growth_.bytes_per_s == 0) return;
    const std::string speed =
        absl::StrCat(FormatBytes(growth_.bytes_per_s), " a second");
    std::string sentence = absl::StrFormat(
        "The process grew by %s for its last %.1f s.", speed,
        static_cast<double>(growth_.to_ns - growth_.from_ns) / 1e9);
    const HeldByLine* most = nullptr;
    for (const HeldByLine& held : held_) {
      if (most == nullptr || held.holder.growth_bytes_per_s() >
                                 most->holder.growth_bytes_per_s()) {
        most = &held;
      }
    }
    const HostMemoryHolder* const grower =
        most == nullptr ? nullptr : &most->holder;
    const bool is_known =
        grower != nullptr && grower->has_line() &&
        static_cast<double>(grower->growth_bytes_per_s()) >
            kMostOfGrowth * static_cast<double>(growth_.bytes_per_s);
    if (is_known) {
      absl::StrAppend(&sentence, " ",
                      absl::StrCat("What ", LongLineText(grower->line()),
                                   " makes is kept: "),
                      FormatBytes(grower->bytes()), " in ",
                      CountOf(grower->count(), "block"), ", ",
                      FormatBytes(grower->growth_bytes_per_s()),
                      " a second more.");
      if (!most->callers.empty()) {
        absl::StrAppend(&sentence, " It is called by ",
                        LongLineText(most->callers.front()), ".");
      }
    }
    if (!is_known && memory_.NumberOf(schema::kHostWatched) == 0) {
      absl::StrAppend(
          &sentence,
          " Which line of the program makes it is not known: start it with "
          "`oom-forensics run -- python ...`, which watches NumPy and Python, "
          "too.");
    }
    AddPart("HOST_GROWTH",
            static_cast<double>(growth_.bytes) / static_cast<double>(Whole()),
            sentence);
    AddEvidence("growth", static_cast<double>(growth_.bytes_per_s),
                "bytes/second", sentence);
    if (!is_known) return;
    Remedy& remedy = *series_.add_remedies();
    remedy.set_kind("release_host_growth");
    remedy.set_title(absl::StrCat("Do not keep all that ",
                                  ShortLine(grower->line()), " makes"));
    remedy.set_detail(
        "Keep sums or the last few of them, write them to a file, or bound "
        "what keeps them (collections.deque(maxlen=...)).");
    remedy.set_bytes(grower->bytes());
    remedy.set_sufficiency(UNCERTAIN);
    *remedy.mutable_line() = grower->line();
  }

  // One block that takes much of the limit.
  void TellDataSet() {
    if (blocks_ == nullptr) return;
    const HostMemoryHolder* largest = nullptr;
    uint64_t largest_bytes = 0;
    for (const HostMemoryHolder& holder : series_.holders()) {
      if (holder.count() == 0 || holder.estimated() || !holder.has_line()) {
        continue;
      }
      const uint64_t bytes = holder.bytes() / holder.count();
      if (bytes > largest_bytes) {
        largest_bytes = bytes;
        largest = &holder;
      }
    }
    if (largest == nullptr || static_cast<double>(largest_bytes) <
                                  kLargeBlock * static_cast<double>(Whole())) {
      return;
    }
    AddPart(
        "HOST_DATA_SET",
        static_cast<double>(largest->bytes()) / static_cast<double>(Whole()),
        absl::StrCat("A block of ", FormatBytes(largest_bytes),
                     " was made as a whole at ", LongLineText(largest->line()),
                     "."));
    Remedy& remedy = *series_.add_remedies();
    remedy.set_kind("stream_data_set");
    remedy.set_title(absl::StrCat(
        "Do not load what ", ShortLine(largest->line()), " makes as a whole"));
    remedy.set_detail(
        "Map it from its file (numpy.load(path, mmap_mode='r')) or read it "
        "piece by piece (tf.data.Dataset.from_generator, TFRecord).");
    remedy.set_bytes(largest->bytes());
    remedy.set_sufficiency(UNCERTAIN);
    *remedy.mutable_line() = largest->line();
  }

  void TellHeldByMalloc() {
    const uint64_t held = memory_.Last(schema::kHostMallocFree);
    if (static_cast<double>(held) <
        kMuchHeldByMalloc * static_cast<double>(Whole())) {
      return;
    }
    const std::string sentence = absl::StrCat(
        FormatBytes(held),
        " were freed by the program and are still held by malloc.");
    AddPart("HELD_BY_MALLOC",
            static_cast<double>(held) / static_cast<double>(Whole()), sentence);
    AddEvidence("malloc_free_bytes", static_cast<double>(held), "bytes",
                sentence);
    Remedy& remedy = *series_.add_remedies();
    remedy.set_kind("fewer_arenas");
    remedy.set_title("Let malloc give back what was freed");
    remedy.set_detail(
        "Set MALLOC_ARENA_MAX=2 and MALLOC_TRIM_THRESHOLD_=131072 before the "
        "program starts, or load tcmalloc with LD_PRELOAD.");
    remedy.set_code("MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072");
    remedy.mutable_values()->set_setting("MALLOC_ARENA_MAX=2");
    remedy.set_bytes(held);
    remedy.set_sufficiency(UNCERTAIN);
  }

  const HostTrace& host_;
  const HostMemoryTrace& memory_;
  const AllocatorReplay* const blocks_;
  HostMemorySeries& series_;
  const uint64_t limit_;
  const uint64_t machine_;
  const uint64_t used_;
  const HostGrowth growth_;
  std::vector<HeldByLine> held_;
};

}  // namespace

bool HasHostBlocks(const AllocatorTrace& allocator) {
  return allocator.kind == "host";
}

void TellHostStory(const HostTrace& host, const AllocatorReplay* blocks,
                   HostMemorySeries* series) {
  HostStory(host, blocks, series).Tell();
}

}  // namespace oom_forensics
