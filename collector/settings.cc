#include "collector/settings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "collector/snapshot_signal_names.h"

namespace oom_forensics::collector {
namespace {

// Each parser returns what a value has to be, if the text is none.
std::string ParseSwitch(const std::string& text, bool* value) {
  if (text == "0" || text == "false" || text == "False") {
    *value = false;
  } else if (text == "1" || text == "true" || text == "True") {
    *value = true;
  } else {
    return "0 or 1";
  }
  return "";
}

std::string ParseCount(const std::string& text, uint64_t smallest,
                       uint64_t largest, uint64_t* value) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || errno != 0 ||
      *end != '\0' || number < smallest || number > largest) {
    return "a whole number from " + std::to_string(smallest) + " to " +
           std::to_string(largest);
  }
  *value = number;
  return "";
}

std::string ParseRate(const std::string& text, double* value) {
  // strtod would expect a comma where the user's language has one.
  double rate = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, rate);
  if (read.ec != std::errc() || read.ptr != end || !(rate > 0 && rate <= 1)) {
    return "a number above 0 and at most 1";
  }
  *value = rate;
  return "";
}

std::string ParseSignal(const std::string& text, std::string* value) {
  if (!text.empty() && SignalNumber(text) == 0) return "SIGUSR1 or SIGUSR2";
  *value = text;
  return "";
}

std::string ParseWatch(const std::string& text, cupti::WatchSetting* value) {
  if (text == "auto") {
    *value = cupti::WatchSetting::kAuto;
  } else if (text == "own") {
    *value = cupti::WatchSetting::kOwn;
  } else if (text == "samples") {
    *value = cupti::WatchSetting::kSamples;
  } else if (text == "off") {
    *value = cupti::WatchSetting::kOff;
  } else {
    return "auto, own, samples or off";
  }
  return "";
}

std::string ParseSourcePaths(const std::string& text, std::string* value) {
  if (text != "full" && text != "project" && text != "none") {
    return "full, project or none";
  }
  *value = text;
  return "";
}

// "limit:0.9,new_peak,growth:20", or some of it; empty: nothing.
std::string ParseTriggers(const std::string& text, TriggerSettings* value) {
  constexpr char kForm[] = "a list of limit:SHARE, new_peak and growth:STEPS";
  TriggerSettings read;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string name = item.substr(0, colon);
    const std::string number =
        colon < item.size() ? item.substr(colon + 1) : std::string();
    std::string wrong;
    if (name == "limit") {
      wrong = ParseRate(number, &read.limit_share);
    } else if (name == "growth") {
      wrong = ParseCount(number, 2, 1'000'000, &read.growth_steps);
    } else if (item == "new_peak") {
      read.new_peak = true;
    } else {
      return kForm;
    }
    if (!wrong.empty()) return std::string(kForm) + ", the number " + wrong;
  }
  *value = read;
  return "";
}

using Parser = std::string (*)(const std::string& text, Settings* settings);
constexpr struct {
  std::string_view name;
  const char* variable;
  Parser parse;
} kSettings[] = {
    {"enabled", "OOM_FORENSICS",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->enabled);
     }},
    {"allocation_log_buffer_size", "OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 1'000, 100'000'000,
                         &settings->allocation_log_buffer_size);
     }},
    {"allocation_log_sampling_rate",
     "OOM_FORENSICS_ALLOCATION_LOG_SAMPLING_RATE",
     [](const std::string& text, Settings* settings) {
       return ParseRate(text, &settings->allocation_log_sampling_rate);
     }},
    {"min_bytes", "OOM_FORENSICS_MIN_BYTES",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 0, uint64_t{1} << 40, &settings->min_bytes);
     }},
    {"anonymize_addresses", "OOM_FORENSICS_ANONYMIZE_ADDRESSES",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->anonymize_addresses);
     }},
    {"logdir", "OOM_FORENSICS_LOGDIR",
     [](const std::string& text, Settings* settings) {
       settings->logdir = text;
       return std::string();
     }},
    {"max_module_bytes", "OOM_FORENSICS_MAX_MODULE_BYTES",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 0, uint64_t{1} << 30,
                         &settings->max_module_bytes);
     }},
    {"max_reports", "OOM_FORENSICS_MAX_REPORTS",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 0, 1'000, &settings->max_reports);
     }},
    {"max_hold_seconds", "OOM_FORENSICS_MAX_HOLD_SECONDS",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 0, 600, &settings->max_hold_seconds);
     }},
    {"snapshot_signal", "OOM_FORENSICS_SNAPSHOT_SIGNAL",
     [](const std::string& text, Settings* settings) {
       return ParseSignal(text, &settings->snapshot_signal);
     }},
    {"live", "OOM_FORENSICS_LIVE",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->live);
     }},
    {"snapshot_at", "OOM_FORENSICS_SNAPSHOT_AT",
     [](const std::string& text, Settings* settings) {
       return ParseTriggers(text, &settings->snapshot_at);
     }},
    {"capture_events", "OOM_FORENSICS_CAPTURE_EVENTS",
     [](const std::string& text, Settings* settings) {
       return ParseCount(text, 1'000, 40'000'000, &settings->capture_events);
     }},
    {"black_box", "OOM_FORENSICS_BLACK_BOX",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->black_box);
     }},
    {"host", "OOM_FORENSICS_HOST",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->host);
     }},
    {"evidence", "OOM_FORENSICS_EVIDENCE",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->evidence.enabled);
     }},
    {"source_lines", "OOM_FORENSICS_SOURCE_LINES",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->evidence.source_lines);
     }},
    {"keepers", "OOM_FORENSICS_KEEPERS",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->evidence.keepers);
     }},
    {"forecast", "OOM_FORENSICS_FORECAST",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->evidence.forecast);
     }},
    {"user_paths", "OOM_FORENSICS_USER_PATHS",
     [](const std::string& text, Settings* settings) {
       settings->evidence.user_paths = text;
       return std::string();
     }},
    {"library_paths", "OOM_FORENSICS_LIBRARY_PATHS",
     [](const std::string& text, Settings* settings) {
       settings->evidence.library_paths = text;
       return std::string();
     }},
    {"source_paths", "OOM_FORENSICS_SOURCE_PATHS",
     [](const std::string& text, Settings* settings) {
       return ParseSourcePaths(text, &settings->evidence.source_paths);
     }},
    {"cupti", "OOM_FORENSICS_CUPTI",
     [](const std::string& text, Settings* settings) {
       return ParseWatch(text, &settings->device_memory.watch);
     }},
    {"cupti_source", "OOM_FORENSICS_CUPTI_SOURCE",
     [](const std::string& text, Settings* settings) {
       return ParseSwitch(text, &settings->device_memory.allocation_source);
     }},
};

}  // namespace

std::string SetSetting(std::string_view name, const std::string& text,
                       Settings* settings) {
  for (const auto& setting : kSettings) {
    if (setting.name != name) continue;
    const std::string expected = setting.parse(text, settings);
    if (expected.empty()) return "";
    return std::string(name) + " must be " + expected + ", not '" + text + "'";
  }
  return "there is no setting '" + std::string(name) + "'";
}

bool IsEvidenceSetting(std::string_view name) {
  return name == "evidence" || name == "source_lines" || name == "keepers" ||
         name == "forecast" || name == "user_paths" ||
         name == "library_paths" || name == "source_paths";
}

Settings SettingsFromEnvironment(std::vector<std::string>* warnings) {
  Settings settings;
  for (const auto& setting : kSettings) {
    const char* text = std::getenv(setting.variable);
    if (text == nullptr || *text == '\0') continue;
    const std::string expected = setting.parse(text, &settings);
    if (expected.empty()) continue;
    warnings->push_back(std::string(setting.variable) + " must be " + expected +
                        ", not '" + text + "'; the default is used");
  }
  return settings;
}

}  // namespace oom_forensics::collector
