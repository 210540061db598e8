// FrameOrigin: whether a file is the user's or a library's.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_ORIGIN_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_ORIGIN_H_

#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics::collector::python {

class FrameOrigin {
 public:
  // The longest prefix of either list that fits a file decides. If none fits,
  // or both fit equally, the file is the user's.
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
