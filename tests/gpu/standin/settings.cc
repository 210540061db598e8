#include "tests/gpu/standin/settings.h"

#include <cstdlib>
#include <fstream>

namespace standin_gpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// README.md says where these numbers come from.
constexpr Model kModels[] = {
    {"T4", "Tesla T4", 7, 5, 40, 15102 * kMiB, 103 * kMiB},
    {"A100-40", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 40448 * kMiB, 418 * kMiB},
    {"A100-80", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 81152 * kMiB, 418 * kMiB},
    {"H100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 81007 * kMiB, 520 * kMiB},
};

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Settings Read() {
  Settings settings;
  settings.model = kModels[2];
  const std::string id = Variable("STANDIN_GPU_DEVICE");
  for (const Model& model : kModels) {
    if (id == model.id) settings.model = model;
  }
  if (const size_t bytes = ParseBytes(Variable("STANDIN_GPU_MEMORY"))) {
    settings.model.total_bytes = bytes;
  }
  if (const std::string context = Variable("STANDIN_GPU_CONTEXT");
      !context.empty()) {
    settings.model.context_bytes = ParseBytes(context);
  }
  if (const std::string devices = Variable("STANDIN_GPU_DEVICES");
      !devices.empty()) {
    settings.devices = std::atoi(devices.c_str());
  }
  settings.others = Variable("STANDIN_GPU_OTHERS");
  settings.libraries = Variable("STANDIN_GPU_LIBRARIES");
  settings.trace = Variable("STANDIN_GPU_TRACE");
  return settings;
}

// What the list of libraries says of one; empty: nothing.
std::string SettingOf(const char* library) {
  const std::string list = "," + TheSettings().libraries;
  const std::string key = "," + std::string(library) + "=";
  const size_t at = list.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return list.substr(begin, list.find(',', begin) - begin);
}

}  // namespace

size_t ParseBytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || number < 0) return 0;
  const std::string unit = end;
  double scale = 1;
  if (unit == "KiB") scale = 1024;
  if (unit == "MiB") scale = static_cast<double>(kMiB);
  if (unit == "GiB") scale = static_cast<double>(1024 * kMiB);
  return static_cast<size_t>(number * scale);
}

const Settings& TheSettings() {
  static const Settings* const settings = new Settings(Read());
  return *settings;
}

size_t OtherBytes() {
  const std::string& others = TheSettings().others;
  if (others.empty()) return 0;
  std::string text = others;
  if (others[0] == '/') {
    std::ifstream file(others);
    text.clear();
    file >> text;
  }
  const size_t bytes = ParseBytes(text);
  // A bare number counts MiB.
  return text.find_first_not_of("0123456789") == std::string::npos
             ? bytes * kMiB
             : bytes;
}

size_t LibraryBytes(const char* library) {
  return ParseBytes(SettingOf(library));
}

bool IsBroken(const char* library) { return SettingOf(library) == "broken"; }

}  // namespace standin_gpu
