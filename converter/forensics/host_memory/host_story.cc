#include "converter/forensics/host_memory/host_story.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/forensics/host_memory/host_causes.h"
#include "converter/forensics/host_memory/host_growth.h"
#include "converter/forensics/host_memory/host_parts.h"
#include "converter/text/text.h"
#include "core/black_box.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

constexpr size_t kHolders = 20;

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
        own_limit_(memory_.NumberOf(schema::kHostOwnLimit)),
        own_used_(memory_.NumberOf(schema::kHostOwnUsed)),
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

  // Its own limit refused memory: it is what the process may have.
  bool EndedByOwnLimit(const std::string& kind) const {
    if (own_limit_ == 0 || kind == "kernel") return false;
    return kind == "memory_error" ||
           static_cast<double>(own_used_) >
               black_box::kShort * static_cast<double>(own_limit_);
  }
  std::string OwnLimitText() const {
    return absl::StrCat("its own limit (",
                        memory_.TextOf(schema::kHostOwnLimitName), ", ",
                        FormatBytes(own_limit_), ")");
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
          "The kernel killed the process (SIGKILL) because memory ran out",
          memory_.NumberOf(schema::kHostWholeGroup) == 0
              ? ": "
              : ", and all others of its cgroup with it (memory.oom.group): ",
          LimitText(), "."));
    } else if (kind == "memory_error") {
      end.set_sentence(absl::StrCat(
          "The process ended by a MemoryError that nothing caught",
          own_limit_ == 0 ? "" : ": " + OwnLimitText() + " refused memory",
          "."));
    } else if (kind == "abort" && EndedByOwnLimit(kind)) {
      end.set_sentence(absl::StrCat("The process aborted (SIGABRT) where ",
                                    OwnLimitText(), " refused memory."));
    } else if (kind == "abort") {
      end.set_sentence("The process aborted (SIGABRT): a check in C++ failed.");
    } else if (kind == "exit_call") {
      end.set_sentence(absl::StrCat("The process ended at once with exit code ",
                                    end.exit_code(),
                                    ", without running its handlers."));
    } else if (kind == "asked") {
      end.set_sentence(
          "The process was asked to end (SIGTERM or Ctrl-C) while memory was "
          "short.");
    } else if (kind == "signal") {
      end.set_sentence(
          absl::StrCat("The process was ended by ", NameOfSignal(signal), "."));
    } else {
      end.set_sentence(
          "The process ended without a message: something killed it, or it "
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
    if (EndedByOwnLimit(kind)) {
      verdict.set_kind("HOST_LIMIT");
      verdict.set_sentence(
          absl::StrCat(FormatBytes(own_used_), " of ", FormatBytes(own_limit_),
                       " that the process may map (",
                       memory_.TextOf(schema::kHostOwnLimitName),
                       ", `ulimit`) were in use at the end."));
      if (may_be_killed) {
        verdict.set_doubt(
            "how the process ended is not known; its own limit was nearly "
            "used up");
      }
    } else if (kind == "kernel" || (may_be_killed && IsShort(memory_))) {
      verdict.set_kind("HOST_KILLED");
      // Where it is known who killed it, the end has said so.
      verdict.set_sentence(
          kind == "kernel"
              ? absl::StrCat("At the last look ", in_use, ".")
              : absl::StrCat("Memory was used up when the process was killed: ",
                             LimitText(), ", and ", FormatBytes(used_),
                             " were in use at the last look."));
      if (kind != "kernel") {
        verdict.set_doubt(
            "what killed it is not known; memory was short, so it was likely "
            "the kernel");
      }
    } else if (kind == "memory_error" && !IsShort(memory_)) {
      verdict.set_kind("UNKNOWN");
      verdict.set_sentence(
          absl::StrCat("Memory was refused to Python while only ", in_use,
                       ": by a single request that was too large, as a rule."));
    } else if (IsShort(memory_)) {
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
    const bool is_own = verdict.kind() == "HOST_LIMIT";
    for (const HostCause& cause :
         FindHostCauses({host_, blocks_, held_, growth_,
                         is_own ? own_limit_ : Whole(), is_own})) {
      AddPart(cause.kind, cause.share, cause.sentence);
      if (cause.evidence.has_value()) {
        AddEvidence(cause.evidence->name(), cause.evidence->value(),
                    cause.evidence->unit(), cause.sentence);
      }
      if (cause.remedy.has_value()) *series_.add_remedies() = *cause.remedy;
    }
  }

  const HostTrace& host_;
  const HostMemoryTrace& memory_;
  const AllocatorReplay* const blocks_;
  HostMemorySeries& series_;
  const uint64_t limit_;
  const uint64_t machine_;
  const uint64_t used_;
  // The limit and use of the process alone.
  const uint64_t own_limit_;
  const uint64_t own_used_;
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
