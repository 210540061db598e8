// Interned text: each distinct string of a trace once, named by a number.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_STRING_TABLE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_STRING_TABLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace oom_forensics {

using StringId = uint32_t;
inline constexpr StringId kEmptyString = 0;

class StringTable {
 public:
  StringTable() { Intern(""); }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  // The number of `text`, which stays the same for the life of the table.
  StringId Intern(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const StringId id = static_cast<StringId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  const std::string& Get(StringId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // Does not move its strings.
  absl::flat_hash_map<std::string_view, StringId> ids_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_STRING_TABLE_H_
