#include "collector/settings.h"

#include <cerrno>
#include <cstdlib>

namespace oom_forensics::collector {
namespace {

void ReadCount(const char* name, uint64_t smallest, uint64_t largest,
               uint64_t* value, std::vector<std::string>* warnings) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || *text == '-' || number < smallest ||
      number > largest) {
    warnings->push_back(
        std::string(name) + "=" + text + " is not a whole number from " +
        std::to_string(smallest) + " to " + std::to_string(largest) +
        "; using " + std::to_string(*value));
    return;
  }
  *value = number;
}

void ReadWatch(cupti::WatchSetting* watch, std::vector<std::string>* warnings) {
  const char* text = std::getenv("OOM_FORENSICS_CUPTI");
  if (text == nullptr || *text == '\0') return;
  const std::string value = text;
  if (value == "auto") {
    *watch = cupti::WatchSetting::kAuto;
  } else if (value == "own") {
    *watch = cupti::WatchSetting::kOwn;
  } else if (value == "samples") {
    *watch = cupti::WatchSetting::kSamples;
  } else if (value == "off") {
    *watch = cupti::WatchSetting::kOff;
  } else {
    warnings->push_back("OOM_FORENSICS_CUPTI=" + value +
                        " is none of auto, own, samples, off; using auto");
  }
}

void ReadSwitch(const char* name, bool* value,
                std::vector<std::string>* warnings) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  const std::string given = text;
  if (given == "0" || given == "1") {
    *value = given == "1";
  } else {
    warnings->push_back(std::string(name) + "=" + given +
                        " is neither 0 nor 1; using " + (*value ? "1" : "0"));
  }
}

}  // namespace

Settings SettingsFromEnvironment(std::vector<std::string>* warnings) {
  Settings settings;
  if (const char* text = std::getenv("OOM_FORENSICS")) {
    const std::string value = text;
    if (value == "0") {
      settings.enabled = false;
    } else if (value != "1" && !value.empty()) {
      warnings->push_back("OOM_FORENSICS=" + value +
                          " is neither 0 nor 1; staying on");
    }
  }
  ReadCount("OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE", 1'000, 100'000'000,
            &settings.allocation_log_buffer_size, warnings);
  ReadCount("OOM_FORENSICS_CAPTURE_EVENTS", 1'000, 40'000'000,
            &settings.capture_events, warnings);
  ReadWatch(&settings.device_memory.watch, warnings);
  ReadSwitch("OOM_FORENSICS_CUPTI_SOURCE",
             &settings.device_memory.allocation_source, warnings);
  return settings;
}

}  // namespace oom_forensics::collector
