// What datasets derive from a replay and would otherwise derive again at the
// next question: kept by name, the least used dropped first.
#ifndef OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_
#define OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"

namespace oom_forensics {

// Entries are of any type that tells what it takes, by ResidentBytes() or, for
// a message, SpaceUsedLong(). A name must say the type too, so that one name
// never means two.
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
      if (entry->name != name) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return std::static_pointer_cast<const Value>(entry->value);
    }
    std::shared_ptr<const Value> value = make();
    entries_.push_front({name, value, BytesOf(*value)});
    resident_bytes_ += entries_.front().bytes;
    if (entries_.size() > max_entries_) {
      resident_bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return value;
  }

  // The bytes of all entries.
  uint64_t ResidentBytes() const {
    const absl::MutexLock lock(&mutex_);
    return resident_bytes_;
  }

  // Drops all; who uses one keeps it alive.
  void Clear() {
    const absl::MutexLock lock(&mutex_);
    entries_.clear();
    resident_bytes_ = 0;
  }

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<const void> value;
    uint64_t bytes = 0;
  };

  template <typename Value>
  static auto BytesOf(const Value& value) -> decltype(value.ResidentBytes()) {
    return value.ResidentBytes();
  }
  template <typename Message>
  static auto BytesOf(const Message& message)
      -> decltype(message.SpaceUsedLong()) {
    return message.SpaceUsedLong();
  }

  size_t max_entries_;
  mutable absl::Mutex mutex_;
  // The last used first.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t resident_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_ANSWER_CACHE_H_
