#include "collector/trace/line_text.h"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fstream>

#include "core/utf8.h"

namespace oom_forensics::collector {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{8} << 20;
constexpr size_t kMaxTextBytes = 300;

// When this library was loaded: before any line of the user's that allocates.
const std::time_t g_begin = std::time(nullptr);

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\f");
  if (begin == std::string::npos) return "";
  const size_t end = text.find_last_not_of(" \t\r\f");
  return ValidUtf8(Utf8Prefix(
      std::string_view(text).substr(begin, end + 1 - begin), kMaxTextBytes));
}

}  // namespace

std::map<int, std::string> TextsOfLines(std::string_view file,
                                        const std::set<int>& lines) {
  std::map<int, std::string> texts;
  const std::string path(file);
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > kMaxFileBytes || status.st_mtime > g_begin) {
    return texts;
  }
  std::ifstream input(path);
  std::string text;
  auto wanted = lines.begin();
  for (int line = 1; wanted != lines.end() && std::getline(input, text);
       ++line) {
    if (line != *wanted) continue;
    texts.emplace(line, Trimmed(text));
    ++wanted;
  }
  return texts;
}

}  // namespace oom_forensics::collector
