// WebAssembly maps no files, and its pages have no folder to keep them in.
#include "converter/cache/column_cache.h"

namespace oom_forensics {

ColumnCache ColumnCache::OfUser() { return {"", {}}; }

std::optional<ColumnCache::Entry> ColumnCache::EntryOf(const std::string&,
                                                       bool) const {
  return std::nullopt;
}

std::optional<ReplayedHost> ColumnCache::Find(const Entry&) const {
  return std::nullopt;
}

std::shared_ptr<void> ColumnCache::KeepBeside(const Entry&,
                                              const ReplayedHost&) const {
  return nullptr;
}

bool ColumnCache::Keep(const Entry&, const ReplayedHost&) const {
  return false;
}

}  // namespace oom_forensics
