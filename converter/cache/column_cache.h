// The columns of large traces, kept in the user's cache folder after they were
// read and replayed, so that to open the same file again is to map them.
//
// An entry is used only if the trace is the same file, unchanged, and the same
// converter wrote it; all of its bytes and indexes are checked. Whatever is
// wrong with it, the trace is read as if there were none.
#ifndef OOM_FORENSICS_CONVERTER_CACHE_COLUMN_CACHE_H_
#define OOM_FORENSICS_CONVERTER_CACHE_COLUMN_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "converter/replay/replayed_host.h"

namespace oom_forensics {

class ColumnCache {
 public:
  // $OOM_FORENSICS_CACHE, else $XDG_CACHE_HOME/oom-forensics, else
  // ~/.cache/oom-forensics. $OOM_FORENSICS_COLUMNS_MIB is the most that all
  // entries take together; 0: none are kept or used.
  static ColumnCache OfUser();

  struct Limits {
    // Of all entries together; the one used longest ago goes first.
    uint64_t max_bytes = uint64_t{4} << 30;
    // Smaller traces are read about as soon as their columns are found.
    uint64_t min_trace_bytes = uint64_t{20} << 20;
    // What must stay free on the disk.
    uint64_t min_free_bytes = uint64_t{1} << 30;
  };
  // An empty folder: none are kept or used.
  ColumnCache(std::string folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // What a file is known by.
  struct Entry {
    std::string trace_path;
    bool allow_truncated = false;
    // Where the entry is.
    std::string path;
    // What it must say of itself.
    std::string key;
  };
  // None for what is not kept.
  std::optional<Entry> EntryOf(const std::string& trace_path,
                               bool allow_truncated) const;

  // None where there is no entry, or one that cannot be believed.
  std::optional<ReplayedHost> Find(const Entry& entry) const;

  // Writes the entry beside other work; gives up when what is returned is
  // dropped, which must be before `host` is. Null where it cannot be kept.
  std::shared_ptr<void> KeepBeside(const Entry& entry,
                                   const ReplayedHost& host) const;
  // The same, now. False where it could not be kept.
  bool Keep(const Entry& entry, const ReplayedHost& host) const;

 private:
  std::string folder_;
  Limits limits_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CACHE_COLUMN_CACHE_H_
