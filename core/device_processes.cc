#include "core/device_processes.h"

#include <algorithm>
#include <charconv>

#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr size_t kMostProcesses = 8;

// Takes a number and the space that follows it.
template <typename Number>
bool TakeNumber(std::string_view* text, Number* number) {
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc() || rest == end || *rest != ' ') return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()) + 1);
  return true;
}

}  // namespace

std::string ToLines(std::vector<DeviceProcess> processes) {
  std::stable_sort(processes.begin(), processes.end(),
                   [](const DeviceProcess& a, const DeviceProcess& b) {
                     return a.bytes > b.bytes;
                   });
  processes.resize(std::min(processes.size(), kMostProcesses));
  std::string lines;
  for (const DeviceProcess& process : processes) {
    lines += std::to_string(process.process_id) + " " +
             std::to_string(process.bytes) + " " + process.name + "\n";
  }
  return lines;
}

std::vector<DeviceProcess> ProcessesFromLines(std::string_view lines) {
  std::vector<DeviceProcess> processes;
  while (!lines.empty() && processes.size() < kMostProcesses) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    DeviceProcess process;
    if (!TakeNumber(&line, &process.process_id) ||
        !TakeNumber(&line, &process.bytes)) {
      continue;
    }
    process.name = std::string(line);
    processes.push_back(std::move(process));
  }
  return processes;
}

std::string DescribeProcesses(const std::vector<DeviceProcess>& processes) {
  std::string text;
  for (const DeviceProcess& process : processes) {
    const std::string id = "process " + std::to_string(process.process_id);
    if (!text.empty()) text += ", ";
    text += (process.name.empty() ? id : process.name + " (" + id + ")") + " " +
            FormatBytes(process.bytes);
  }
  return text;
}

}  // namespace oom_forensics
