#include "collector/cupti/device_log.h"

namespace oom_forensics::cupti {

DeviceLog::DeviceLog(size_t capacity) : capacity_(capacity) {}

void DeviceLog::Add(const DeviceEvent& event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (contents_.events.size() >= capacity_) {
    ++contents_.dropped_events;
    return;
  }
  contents_.events.push_back(event);
}

StringId DeviceLog::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) {
    return found->second;
  }
  if (contents_.strings.size() >= kMaxStrings) return 0;
  contents_.strings.emplace_back(text);
  const auto id = static_cast<StringId>(contents_.strings.size());
  ids_.emplace(text, id);
  return id;
}

void DeviceLog::CountUnreadable() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++contents_.unreadable_records;
}

void DeviceLog::CountDropped(uint64_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  contents_.dropped_events += count;
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
}

}  // namespace oom_forensics::cupti
