#include "converter/exports/html/page_questions.h"

#include <algorithm>

namespace oom_forensics {
namespace {

constexpr uint32_t kTimelineColumns = 4000;
constexpr uint32_t kTimelineContributors = 10;
constexpr uint32_t kFragmentationColumns = 1000;
constexpr uint32_t kRows = 10000;
constexpr uint32_t kHistoryColumns = 1000;
constexpr uint32_t kHistoryRows = 256;

std::vector<Moment> StoredMoments(const std::vector<int32_t>& ooms) {
  std::vector<Moment> moments;
  for (size_t i = 0; i < std::min(ooms.size(), kMaxStoredOoms); ++i) {
    moments.emplace_back().set_oom(ooms[i]);
  }
  moments.emplace_back().set_peak(true);
  moments.emplace_back().set_end(true);
  return moments;
}

class Questions {
 public:
  Questions(const std::string& host, const std::string& allocator) {
    filter_.set_host(host);
    filter_.set_allocator(allocator);
  }

  // The query, to be completed; it is stored under what it has now.
  Query& Add(DatasetKind dataset, const Moment* at = nullptr,
             GroupBy group_by = GROUP_NONE) {
    Query key;
    key.set_dataset(dataset);
    *key.mutable_filter() = filter_;
    if (at != nullptr) *key.mutable_at() = *at;
    key.set_group_by(group_by);
    questions_.push_back({key, key});
    return questions_.back().query;
  }

  std::vector<PageQuestion> Take() { return std::move(questions_); }

 private:
  Filter filter_;
  std::vector<PageQuestion> questions_;
};

void AddMoment(const Moment& at, Questions* questions) {
  questions->Add(FRAGMENTATION, &at).set_columns(kFragmentationColumns);
  questions->Add(ALLOCATIONS, &at).set_limit(kRows);
  for (const GroupBy group_by : {GROUP_SCOPE, GROUP_OP, GROUP_ROLE, GROUP_DTYPE,
                                 GROUP_SHAPE, GROUP_STEP}) {
    questions->Add(ALLOCATIONS, &at, group_by).set_limit(1);
  }
}

}  // namespace

std::vector<PageQuestion> QuestionsAbout(const std::string& host,
                                         const AllocatorInfo& allocator,
                                         const std::vector<int32_t>& ooms) {
  Questions questions(host, allocator.allocator());
  if (!ooms.empty()) questions.Add(OOM_WINDOW);
  questions.Add(MEMORY_TIMELINE).set_columns(kTimelineColumns);
  Query& stacked = questions.Add(MEMORY_TIMELINE, nullptr, GROUP_SCOPE);
  stacked.set_columns(kTimelineColumns);
  stacked.set_top(kTimelineContributors);
  for (const Moment& at : StoredMoments(ooms)) AddMoment(at, &questions);
  questions.Add(LEAKS);
  questions.Add(STEPS).set_limit(kRows);
  questions.Add(DRIVER_MEMORY);
  Query& history = questions.Add(ADDRESS_HISTORY);
  history.set_columns(kHistoryColumns);
  history.set_rows(kHistoryRows);
  return questions.Take();
}

}  // namespace oom_forensics
