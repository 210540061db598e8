#include "converter/command/fail_on.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "converter/datasets/dataset.h"

namespace oom_forensics {
namespace {

absl::StatusOr<DatasetMessage> Ask(DatasetKind dataset, const Run& run,
                                   const Filter& filter) {
  Query query;
  query.set_dataset(dataset);
  *query.mutable_filter() = filter;
  return AnswerQuery({run, nullptr, query});
}

// Of INFO: whether the test holds for one of the allocators.
template <typename Test>
absl::StatusOr<bool> AnyAllocator(const Run& run, const Filter& filter,
                                  Test test) {
  const auto info = Ask(INFO, run, filter);
  if (!info.ok()) return info.status();
  for (const HostInfo& host : static_cast<const Info&>(**info).hosts()) {
    for (const AllocatorInfo& allocator : host.allocators()) {
      if (test(allocator)) return true;
    }
  }
  return false;
}

absl::StatusOr<bool> RanOutOfMemory(const Run& run, const Filter& filter) {
  return AnyAllocator(run, filter,
                      [](const AllocatorInfo& a) { return a.oom_count() > 0; });
}

absl::StatusOr<bool> ProbeFailed(const Run& run, const Filter& filter) {
  return AnyAllocator(run, filter, [](const AllocatorInfo& a) {
    return a.failed_count() > a.oom_count();
  });
}

absl::StatusOr<bool> CameNearItsLimit(const Run& run, const Filter& filter) {
  return AnyAllocator(run, filter, [](const AllocatorInfo& a) {
    return a.closeness() >= kNearLimit;
  });
}

absl::StatusOr<bool> HasLeak(const Run& run, const Filter& filter) {
  const auto leaks = Ask(LEAKS, run, filter);
  if (!leaks.ok()) return leaks.status();
  return static_cast<const Leaks&>(**leaks).leaks_size() > 0;
}

absl::StatusOr<bool> LostSomething(const Run& run, const Filter& filter) {
  const auto info = Ask(INFO, run, filter);
  if (!info.ok()) return info.status();
  const auto& quality = static_cast<const Info&>(**info).quality();
  return std::any_of(quality.begin(), quality.end(), [](const Quality& entry) {
    return entry.severity() != INFO_ONLY;
  });
}

struct Condition {
  std::string_view name;
  absl::StatusOr<bool> (*is_met)(const Run& run, const Filter& filter);
};

constexpr Condition kConditions[] = {
    {"oom", RanOutOfMemory}, {"probe", ProbeFailed},
    {"leak", HasLeak},       {"near-limit", CameNearItsLimit},
    {"lost", LostSomething},
};

const Condition* FindCondition(const std::string& name) {
  for (const Condition& condition : kConditions) {
    if (condition.name == name) return &condition;
  }
  return nullptr;
}

}  // namespace

absl::Status CheckFailConditions(const std::vector<std::string>& conditions) {
  for (const std::string& name : conditions) {
    if (FindCondition(name) != nullptr) continue;
    std::string known;
    for (const Condition& condition : kConditions) {
      absl::StrAppend(&known, known.empty() ? "" : ", ",
                      std::string(condition.name));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\" is not one of ", known, "."));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FirstMetCondition(
    const std::vector<std::string>& conditions, const Run& run,
    const Filter& filter) {
  for (const std::string& name : conditions) {
    const Condition* condition = FindCondition(name);
    if (condition == nullptr) return CheckFailConditions({name});
    const auto met = condition->is_met(run, filter);
    if (!met.ok()) return met.status();
    if (*met) return name;
  }
  return std::string();
}

}  // namespace oom_forensics
