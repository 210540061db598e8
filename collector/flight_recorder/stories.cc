#include "collector/flight_recorder/stories.h"

#include <new>
#include <utility>

namespace oom_forensics::collector {
namespace {

constexpr size_t kMostStories = 64;

}  // namespace

void Stories::Add(std::string_view shape, std::string summary) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stories_.size() == kMostStories) stories_.pop_front();
  stories_.push_back({std::string(shape), std::move(summary)});
}

void Stories::AddJoined(std::string_view shape, std::string request_line) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!stories_.empty()) {
      request_line += "\nAt the same moment: " + stories_.back().summary;
    }
  }
  Add(shape, std::move(request_line));
}

std::string Stories::SummaryFor(const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto story = stories_.rbegin(); story != stories_.rend(); ++story) {
    // "OOM when allocating tensor with shape[8,16] and type float on ..."
    if (message.find("shape" + story->shape + " ") != std::string::npos) {
      return story->summary;
    }
  }
  return stories_.empty() ? "" : stories_.back().summary;
}

void Stories::SetLastRun(std::string path) {
  std::lock_guard<std::mutex> lock(mutex_);
  last_run_ = std::move(path);
}

std::string Stories::LastRun() {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_run_;
}

void Stories::AfterForkInChild() { new (&mutex_) std::mutex; }

}  // namespace oom_forensics::collector
