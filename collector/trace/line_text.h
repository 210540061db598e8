// The text of lines of the user's source files.
#ifndef OOM_FORENSICS_COLLECTOR_TRACE_LINE_TEXT_H_
#define OOM_FORENSICS_COLLECTOR_TRACE_LINE_TEXT_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace oom_forensics::collector {

// The texts of these lines of `file` (from 1) as UTF-8, without the white space
// around them. Without those that cannot be read: no file (a
// notebook's cell), a very large one, or one that was changed after this
// process began, whose lines may be others by now.
std::map<int, std::string> TextsOfLines(std::string_view file,
                                        const std::set<int>& lines);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TRACE_LINE_TEXT_H_
