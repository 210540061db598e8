// FrameOrigin: whether a file is the user's or a library's.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_ORIGIN_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_ORIGIN_H_

#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics::collector::python {

class FrameOrigin {
 public:
  // Of the two lists of path prefixes the longest that fits a file decides;
  // where none does, or both as well, the file is the user's.
  FrameOrigin(std::vector<std::string> library_prefixes,
              std::vector<std::string> user_prefixes);

  bool IsLibrary(std::string_view file) const;

 private:
  std::vector<std::string> library_prefixes_;
  std::vector<std::string> user_prefixes_;
};

// The prefixes of a text that separates them by colons or ends of lines.
std::vector<std::string> SplitPrefixes(std::string_view text);

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_ORIGIN_H_
