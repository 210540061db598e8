// Activities: what the program does that takes memory, as Python sees it, kept
// in the black box. Each place of the program has one record, however often it
// does the same.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_ACTIVITIES_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_ACTIVITIES_H_

#include <cstdint>
#include <mutex>
#include <string_view>

#include "core/black_box.h"

namespace oom_forensics::collector {

class Activities {
 public:
  // An activity begins in a process that has `anon_bytes` of its own. Returns
  // its index; -1: there is no room for it.
  int Begin(black_box::Box* box, black_box::ActivityKind kind,
            std::string_view name, std::string_view where,
            uint64_t anon_bytes) noexcept;
  // It has ended; see black_box::Activity.
  static void End(black_box::Box* box, int index, uint64_t live,
                  uint64_t element_bytes, std::string_view what,
                  uint64_t anon_bytes) noexcept;

 private:
  // Held while a record is found or made, and for nothing that waits.
  std::mutex mutex_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_ACTIVITIES_H_
