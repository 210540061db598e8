#include "collector/python/frame_origin.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace oom_forensics::collector::python {
namespace {

// The length of the longest prefix that fits, and 0 where none does.
size_t LongestFit(const std::vector<std::string>& prefixes,
                  std::string_view file) {
  size_t longest = 0;
  for (const std::string& prefix : prefixes) {
    if (file.substr(0, prefix.size()) == prefix) {
      longest = std::max(longest, prefix.size());
    }
  }
  return longest;
}

}  // namespace

FrameOrigin::FrameOrigin(std::vector<std::string> library_prefixes,
                         std::vector<std::string> user_prefixes)
    : library_prefixes_(std::move(library_prefixes)),
      user_prefixes_(std::move(user_prefixes)) {
  // Python's own import system, which has no file.
  library_prefixes_.emplace_back("<frozen ");
}

bool FrameOrigin::IsLibrary(std::string_view file) const {
  return LongestFit(library_prefixes_, file) > LongestFit(user_prefixes_, file);
}

std::vector<std::string> SplitPrefixes(std::string_view text) {
  std::vector<std::string> prefixes;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(":\n"), text.size());
    if (end > 0) prefixes.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return prefixes;
}

}  // namespace oom_forensics::collector::python
