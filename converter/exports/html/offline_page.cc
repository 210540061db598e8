#include "converter/exports/html/offline_page.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/exports/html/escape.h"
#include "converter/exports/html/page_questions.h"
#include "google/protobuf/util/json_util.h"

namespace oom_forensics {
namespace {

// The data's "version" in docs/offline-page.md.
constexpr int kDataVersion = 1;

// The "answers" of the page's data.
class Answers {
 public:
  explicit Answers(const Run& run) : run_(run) {}

  // Asks and stores. What this run or this version has no answer to is left
  // out: the page says so where it would be shown.
  absl::StatusOr<DatasetMessage> Add(const PageQuestion& question) {
    auto answer = AnswerQuery({run_, nullptr, question.query});
    if (!answer.ok()) return answer;
    std::string key;
    const auto written =
        google::protobuf::util::MessageToJsonString(question.key, &key);
    if (!written.ok()) return absl::InternalError("A question is not JSON.");
    absl::StrAppend(&json_, json_.empty() ? "" : ",\n", "{\"question\":", key,
                    ",\"body\":\"",
                    absl::Base64Escape((*answer)->SerializeAsString()), "\"}");
    return answer;
  }

  const std::string& json() const { return json_; }

 private:
  const Run& run_;
  std::string json_;
};

std::vector<int32_t> OomsOf(const Run& run, const std::string& host,
                            const std::string& allocator) {
  std::vector<int32_t> numbers;
  const std::vector<OomRef> ooms = ListOoms(run);
  for (size_t i = 0; i < ooms.size(); ++i) {
    const HostSummary& failed = run.hosts()[ooms[i].allocator.host];
    if (failed.host == host &&
        failed.allocators[ooms[i].allocator.allocator].name == allocator) {
      numbers.push_back(static_cast<int32_t>(i));
    }
  }
  return numbers;
}

std::string PageOf(const std::string& run_name, const std::string& answers,
                   const FrontendFiles& frontend) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>OOM Forensics – ",
      EscapeHtml(run_name), "</title><style>", EscapeCode(frontend.style),
      "</style></head>\n<body>\n"
      "<script type=\"application/json\" id=\"oom-forensics-data\">",
      "{\"version\":", kDataVersion, ",\"run\":", QuoteJson(run_name),
      ",\"answers\":[\n", answers, "\n]}</script>\n<script type=\"module\">",
      EscapeCode(frontend.script), "</script>\n</body>\n</html>\n");
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
      if (answers.json().size() >= limits.answer_bytes) continue;
      ++page.stored_allocators;
      for (const PageQuestion& about :
           QuestionsAbout(host.host(), allocator,
                          OomsOf(run, host.host(), allocator.allocator()))) {
        const auto answer = answers.Add(about);
        if (!answer.ok() && !absl::IsUnimplemented(answer.status())) {
          return answer.status();
        }
      }
    }
  }
  page.html = PageOf(run.name(), answers.json(), frontend);
  return page;
}

}  // namespace oom_forensics
