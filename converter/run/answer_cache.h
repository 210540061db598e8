// What datasets derive from a replay and would otherwise derive again at the
// next question: kept by name, the least used dropped first.
#ifndef OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_
#define OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace oom_forensics {

// Entries are of any type; a name must say the type too, so that one name never
// means two.
class AnswerCache {
 public:
  explicit AnswerCache(size_t max_entries) : max_entries_(max_entries) {}

  // The entry of that name; made by `make` where there is none.
  template <typename Value>
  std::shared_ptr<const Value> Get(
      const std::string& name,
      const std::function<std::shared_ptr<const Value>()>& make) {
    const absl::MutexLock lock(&mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != name) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return std::static_pointer_cast<const Value>(entry->second);
    }
    std::shared_ptr<const Value> value = make();
    entries_.emplace_front(name, value);
    if (entries_.size() > max_entries_) entries_.pop_back();
    return value;
  }

 private:
  size_t max_entries_;
  absl::Mutex mutex_;
  // The last used first.
  std::list<std::pair<std::string, std::shared_ptr<const void>>> entries_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_
