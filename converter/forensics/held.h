// What is held at a moment, and by whom: the live allocations of a pool beside
// the references that Python told of when the run was written. Computed once
// for each moment; causes are questions to it.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HELD_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HELD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// One way in which live allocations are kept: a chain of references.
struct FoundKeeper {
  const RecordedKeeper* recorded = nullptr;
  std::vector<Row> rows;
  uint64_t bytes = 0;
};

// An object that holds several tensors: the first list, dict, deque or the like
// of a chain, else the variable that the chain begins with.
struct Container {
  // "list 'kept' in __main__ (67 items)"
  std::string name;
  // The chain begins with it.
  bool is_root = false;
  // Oldest first.
  std::vector<Row> rows;
  uint64_t bytes = 0;
  // 0: not recorded.
  uint64_t items = 0;
  // A deque's maxlen; 0: there is no such bound.
  uint64_t most_items = 0;
  // A local variable of a library's function that is running.
  bool is_of_library = false;
  // Most of its bytes are values of variables.
  bool holds_variables = false;
};

class HeldTable {
 public:
  // `live`: the kAlloc rows that are live at the moment. `replay` must outlive
  // it.
  HeldTable(const AllocatorReplay& replay, std::vector<Row> live);

  const std::vector<Row>& live() const { return live_; }
  // Whether Python told of references at all.
  bool knows_keepers() const { return !keepers_.empty(); }
  // The largest first.
  const std::vector<Container>& containers() const { return containers_; }
  // Null: nothing of several tensors is known to hold it.
  const Container* ContainerOf(Row row) const;

  // Whether Python told of anything that keeps the allocation.
  bool IsKept(Row row) const { return kept_.contains(row); }
  // Whether it is the value of a variable.
  bool IsVariable(Row row) const { return variables_.contains(row); }
  // Whether a single gradient tape keeps it: what a step, or the rounds of a
  // loop, computed for a backward pass that has not ended. (A list of tapes is
  // a container.)
  bool IsOnTape(Row row) const { return on_tape_.contains(row); }
  // What is on a tape, in the order in which it was made.
  std::vector<Row> OnTape() const;

  // Who keeps which of `rows`; the largest first. An allocation may have
  // several keepers.
  std::vector<FoundKeeper> KeepersOf(const std::vector<Row>& rows) const;
  // Which object keeps most of `rows`: "80.0 MiB of it are kept by list
  // 'history' in __main__ (20 items)."; empty: that was not recorded.
  std::string KeptBySentence(const std::vector<Row>& rows) const;

  uint64_t ResidentBytes() const;

 private:
  void ReadKeeper(const RecordedKeeper& recorded,
                  const absl::flat_hash_map<uint64_t, Row>& row_at);
  void FillContainers();

  const AllocatorReplay* replay_;
  std::vector<Row> live_;
  std::vector<FoundKeeper> keepers_;
  std::vector<Container> containers_;
  absl::flat_hash_map<Row, size_t> container_of_;
  absl::flat_hash_set<Row> kept_;
  absl::flat_hash_set<Row> variables_;
  absl::flat_hash_set<Row> on_tape_;
};

// Those of `rows` that were live when keepers may have been sought: at an
// out-of-memory, or when the run was written.
std::vector<Row> LiveWhenKeepersWereSought(const AllocatorReplay& replay,
                                           std::vector<Row> rows);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HELD_H_
