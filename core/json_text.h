// Text as JSON holds it.
#ifndef OOM_FORENSICS_CORE_JSON_TEXT_H_
#define OOM_FORENSICS_CORE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace oom_forensics {

// A JSON string with its quotes, in UTF-8 whatever `text` is. "<" is escaped
// too, so that nothing in it can end a script's element in a page.
std::string QuoteJson(std::string_view text);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_JSON_TEXT_H_
