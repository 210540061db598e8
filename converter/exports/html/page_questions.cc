#include "converter/exports/html/page_questions.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kTimelineColumns = 4000;
constexpr uint32_t kTimelineContributors = 10;
constexpr uint32_t kFragmentationColumns = 1000;
constexpr uint32_t kRows = 10000;
constexpr uint32_t kHistoryColumns = 1000;
constexpr uint32_t kHistoryRows = 256;

}  // namespace

QuestionsAbout::QuestionsAbout(const std::string& host,
                               const std::string& allocator) {
  filter_.set_host(host);
  filter_.set_allocator(allocator);
}

PageQuestion QuestionsAbout::Make(DatasetKind dataset) const {
  PageQuestion question;
  question.key.set_dataset(dataset);
  *question.key.mutable_filter() = filter_;
  question.query = question.key;
  return question;
}

std::vector<PageQuestion> QuestionsAbout::Once(bool has_oom) const {
  std::vector<PageQuestion> questions;
  if (has_oom) questions.push_back(Make(OOM_WINDOW));
  PageQuestion timeline = Make(MEMORY_TIMELINE);
  timeline.query.set_columns(kTimelineColumns);
  questions.push_back(timeline);
  timeline.key.set_group_by(GROUP_SCOPE);
  timeline.query.set_group_by(GROUP_SCOPE);
  timeline.query.set_top(kTimelineContributors);
  questions.push_back(timeline);
  PageQuestion holes = Make(FRAGMENTATION);
  holes.query.set_columns(kFragmentationColumns);
  // The answer carries a map too; that of the start is the smallest.
  holes.query.mutable_at()->set_event(-1);
  questions.push_back(holes);
  questions.push_back(Make(LEAKS));
  PageQuestion steps = Make(STEPS);
  steps.query.set_limit(kRows);
  questions.push_back(steps);
  questions.push_back(Make(DRIVER_MEMORY));
  PageQuestion history = Make(ADDRESS_HISTORY);
  history.query.set_columns(kHistoryColumns);
  history.query.set_rows(kHistoryRows);
  questions.push_back(history);
  return questions;
}

std::vector<PageQuestion> QuestionsAbout::At(const Moment& at) const {
  std::vector<PageQuestion> questions;
  const auto add = [&](DatasetKind dataset) -> PageQuestion& {
    PageQuestion& question = questions.emplace_back(Make(dataset));
    *question.key.mutable_at() = at;
    *question.query.mutable_at() = at;
    return question;
  };
  add(FRAGMENTATION).query.set_columns(1);
  add(ALLOCATIONS).query.set_limit(kRows);
  for (const GroupBy group_by :
       {GROUP_SCOPE, GROUP_OP, GROUP_ROLE, GROUP_DTYPE, GROUP_SHAPE, GROUP_STEP,
        GROUP_LINE, GROUP_STACK}) {
    PageQuestion& groups = add(ALLOCATIONS);
    groups.key.set_group_by(group_by);
    groups.query.set_group_by(group_by);
    groups.query.set_limit(1);
  }
  return questions;
}

}  // namespace oom_forensics
