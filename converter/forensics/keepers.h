// What keeps live allocations from being freed, as Python's references told
// when the run was written.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_KEEPERS_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_KEEPERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct FoundKeeper {
  const RecordedKeeper* recorded = nullptr;
  // Of the allocations asked about, those that it keeps.
  std::vector<Row> rows;
  uint64_t bytes = 0;
};

// Of `rows` (kAlloc rows), who keeps which; the largest first. An allocation
// may have several keepers. Keepers know addresses: `rows` were live when they
// were looked for.
std::vector<FoundKeeper> KeepersOf(const AllocatorReplay& replay,
                                   const std::vector<Row>& rows);

// Of `rows`, those that were live when keepers may have been looked for: at an
// out-of-memory, or when the run was written.
std::vector<Row> LiveWhenKeepersWereSought(const AllocatorReplay& replay,
                                           std::vector<Row> rows);

// Of `rows`, what a single gradient tape keeps: what a step, or the rounds of a
// loop, computed for a backward pass that has not ended. (A list of tapes is
// another root.) In the order in which it was made.
std::vector<Row> RowsOnTape(const AllocatorReplay& replay,
                            const std::vector<Row>& rows);

// Whether Python told of an allocation that it is the value of a variable.
bool IsValueOfVariable(const AllocatorReplay& replay, Row row);

// Which object of the program keeps most of `rows`: "80.0 MiB of it are kept by
// list 'history' in __main__ (20 items)."; empty: that was not recorded.
std::string KeptBySentence(const AllocatorReplay& replay,
                           const std::vector<Row>& rows);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_KEEPERS_H_
