// Which line of the user's program a site is told by.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_SITE_SOURCE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_SITE_SOURCE_H_

#include <string>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

struct SiteSource {
  // Where the Keras object was made that the op is of, else where the op was
  // called: the line that a user would change. kNoLine: not recorded.
  LineId line = kNoLine;
  // Where the op was called.
  StackIndex called = kNoStack;
  StackIndex made_at = kNoStack;
  // What was made at `line`, "Conv2D conv2d_1"; else empty.
  StringId object = kEmptyString;
};
SiteSource SourceOf(const HostTrace& host, const AllocationSite& site);

// The name of a file without its folders.
std::string_view BaseName(std::string_view path);

// "train.py:41 in augment", or "train.py:41 (Conv2D conv2d_1)"; empty where no
// line is recorded.
std::string DescribeSource(const HostTrace& host, const AllocationSite& site);
std::string DescribeLine(const HostTrace& host, LineId line);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_SITE_SOURCE_H_
