// Text inside an HTML page, so that nothing in it can end the element that it
// lies in: names in a trace are anybody's.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_ESCAPE_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_ESCAPE_H_

#include <string>
#include <string_view>

namespace oom_forensics {

// For text between tags.
std::string EscapeHtml(std::string_view text);

// A script's or style's code: "</script", "</style" and "<!--", in any case,
// with a backslash after the "<", which means the same in a string.
std::string EscapeCode(std::string_view code);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_ESCAPE_H_
