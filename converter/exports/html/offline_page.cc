#include "converter/exports/html/offline_page.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/exports/gzip/gzip.h"
#include "converter/exports/html/escape.h"
#include "converter/exports/html/page_moments.h"
#include "converter/exports/html/page_questions.h"
#include "core/json_text.h"
#include "google/protobuf/util/json_util.h"

namespace oom_forensics {
namespace {

// The data's "version" in docs/offline-page.md.
constexpr int kDataVersion = 2;

// The "answers" and "moments" of the page's data.
class Answers {
 public:
  explicit Answers(const Run& run) : run_(run) {}

  // Asks and stores. What this run or this version has no answer to is left
  // out: the page says so where it would be shown.
  absl::StatusOr<DatasetMessage> Add(const PageQuestion& question) {
    auto answer = AnswerQuery({run_, nullptr, question.query});
    if (!answer.ok()) return answer;
    absl::StrAppend(&answers_, answers_.empty() ? "" : ",\n",
                    "{\"question\":", JsonOf(question.key), ",\"body\":\"",
                    absl::Base64Escape(Gzip((*answer)->SerializeAsString())),
                    "\"}");
    return answer;
  }

  // Stores the state of an allocator at a moment.
  absl::Status AddMoment(const std::string& host, const std::string& allocator,
                         const Moment& at) {
    int64_t time_ns = 0;
    for (const PageQuestion& about : QuestionsAbout(host, allocator).At(at)) {
      const auto answer = Add(about);
      if (!answer.ok()) return answer.status();
      if (about.key.dataset() == ALLOCATIONS) {
        time_ns = static_cast<const Allocations&>(**answer).time_ns();
      }
    }
    absl::StrAppend(&moments_, moments_.empty() ? "" : ",\n",
                    "{\"host\":", QuoteJson(host),
                    ",\"allocator\":", QuoteJson(allocator),
                    ",\"at\":", JsonOf(at), ",\"timeNs\":\"", time_ns, "\"}");
    return absl::OkStatus();
  }

  uint64_t bytes() const { return answers_.size() + moments_.size(); }
  const std::string& answers() const { return answers_; }
  const std::string& moments() const { return moments_; }

 private:
  // Fails only for what is no message of ours.
  static std::string JsonOf(const google::protobuf::Message& message) {
    std::string json;
    if (!google::protobuf::util::MessageToJsonString(message, &json).ok()) {
      return "{}";
    }
    return json;
  }

  const Run& run_;
  std::string answers_;
  std::string moments_;
};

std::vector<int32_t> OomsOf(const Run& run, const AllocatorRef& allocator) {
  std::vector<int32_t> numbers;
  const std::vector<OomRef> ooms = ListOoms(run);
  for (size_t i = 0; i < ooms.size(); ++i) {
    if (ooms[i].allocator == allocator) {
      numbers.push_back(static_cast<int32_t>(i));
    }
  }
  return numbers;
}

// Stores what there is to say about an allocator: moments beyond the first ones
// only while they take no more than `moment_bytes`.
absl::Status AddAllocator(const Run& run, const AllocatorRef& ref,
                          uint64_t moment_bytes, Answers* answers) {
  const std::string& host = run.hosts()[ref.host].host;
  const std::string& name =
      run.hosts()[ref.host].allocators[ref.allocator].name;
  const std::vector<int32_t> ooms = OomsOf(run, ref);
  Steps steps;
  for (const PageQuestion& about :
       QuestionsAbout(host, name).Once(!ooms.empty())) {
    const auto answer = answers->Add(about);
    if (absl::IsUnimplemented(answer.status())) continue;
    if (!answer.ok()) return answer.status();
    if (about.key.dataset() == STEPS) {
      steps = static_cast<const Steps&>(**answer);
    }
  }
  for (const Moment& at : FirstMoments(ooms)) {
    const auto added = answers->AddMoment(host, name, at);
    if (!added.ok()) return added;
  }
  const uint64_t full = answers->bytes() + moment_bytes;
  for (const Moment& at : FurtherMoments(LoadAllocator(run, ref), steps)) {
    if (answers->bytes() >= full) break;
    const auto added = answers->AddMoment(host, name, at);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// The page runs its own script, which nobody can add to, and reaches nothing
// else: whatever names a trace holds, none of it leaves the page.
std::string ContentSecurityPolicy(const std::string& nonce) {
  return absl::StrCat(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; script-src 'nonce-",
      nonce,
      "'; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'\">");
}

std::string MakeNonce() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

std::string PageOf(const std::string& run_name, const Answers& answers,
                   const FrontendFiles& frontend) {
  const std::string nonce = MakeNonce();
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">",
      ContentSecurityPolicy(nonce), "<title>OOM Forensics – ",
      EscapeHtml(run_name), "</title><style>", EscapeCode(frontend.style),
      "</style></head>\n<body>\n"
      "<script type=\"application/json\" id=\"oom-forensics-data\">",
      "{\"version\":", kDataVersion, ",\"run\":", QuoteJson(run_name),
      ",\"moments\":[\n", answers.moments(), "\n],\"answers\":[\n",
      answers.answers(), "\n]}</script>\n<script type=\"module\" nonce=\"",
      nonce, "\">", EscapeCode(frontend.script),
      "</script>\n</body>\n</html>\n");
}

}  // namespace

absl::StatusOr<OfflinePage> MakeOfflinePage(const Run& run,
                                            const Filter& filter,
                                            const FrontendFiles& frontend,
                                            const OfflinePageLimits& limits) {
  PageQuestion question;
  question.key.set_dataset(INFO);
  question.query = question.key;
  question.query.mutable_filter()->set_host(filter.host());
  question.query.mutable_filter()->set_allocator(filter.allocator());
  Answers answers(run);
  const auto info = answers.Add(question);
  if (!info.ok()) return info.status();
  OfflinePage page;
  for (const HostInfo& host : static_cast<const Info&>(**info).hosts()) {
    for (const AllocatorInfo& allocator : host.allocators()) {
      ++page.allocators;
      if (answers.bytes() >= limits.answer_bytes) continue;
      ++page.stored_allocators;
      Filter only;
      only.set_host(host.host());
      only.set_allocator(allocator.allocator());
      const auto selected = SelectAllocators(run, only);
      if (!selected.ok()) return selected.status();
      const auto added = AddAllocator(run, selected->refs().front(),
                                      limits.moment_bytes, &answers);
      if (!added.ok()) return added;
    }
  }
  page.html = PageOf(run.name(), answers, frontend);
  return page;
}

}  // namespace oom_forensics
