#include "collector/cupti/device_log.h"

#include <new>

namespace oom_forensics::cupti {

DeviceLog::DeviceLog(size_t capacity) : capacity_(capacity) {}

void DeviceLog::Add(const DriverEvent& event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (contents_.events.size() >= capacity_) {
    ++contents_.dropped_events;
    return;
  }
  // The caller may be CUPTI or TensorFlow, which know no exceptions.
  try {
    contents_.events.push_back(event);
  } catch (const std::bad_alloc&) {
    ++contents_.dropped_events;
  }
}

StringId DeviceLog::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) {
    return found->second;
  }
  if (contents_.strings.size() >= kMaxStrings) return 0;
  const auto id = static_cast<StringId>(contents_.strings.size() + 1);
  try {
    contents_.strings.emplace_back(text);
    ids_.emplace(text, id);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return id;
}

void DeviceLog::CountUnreadable() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++contents_.unreadable_records;
}

void DeviceLog::CountDroppedByCupti(uint64_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  contents_.dropped_by_cupti += count;
}

DeviceLog::Contents DeviceLog::Read() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return contents_;
}

void DeviceLog::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  contents_.events.clear();
  contents_.dropped_events = 0;
  contents_.unreadable_records = 0;
  contents_.dropped_by_cupti = 0;
}

}  // namespace oom_forensics::cupti
