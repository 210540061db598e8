// The chunks of a BFC pool: their order by address, which of them are free, and
// a journal by which changes are taken back.
//
// As in TensorFlow a chunk is named by its place in a table, and the place of
// one that is gone is used again, last gone first.
#ifndef OOM_FORENSICS_CONVERTER_BFC_BFC_CHUNKS_H_
#define OOM_FORENSICS_CONVERTER_BFC_BFC_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <set>
#include <vector>

namespace oom_forensics {

// A chunk's place in the table.
using ChunkId = uint32_t;
inline constexpr ChunkId kNoChunk = UINT32_MAX;

struct PoolChunk {
  enum class State : uint8_t { kUnused, kFree, kInUse };

  uint64_t address = 0;
  uint64_t size_bytes = 0;
  // Timing count of its last release; 0: safe for everybody.
  uint64_t freed_at = 0;
  // Neighbours in the same region. Of an unused place, `next` is the next one.
  ChunkId previous = kNoChunk;
  ChunkId next = kNoChunk;
  State state = State::kUnused;
  // Whether it can be found by size. A chunk that is free is not, while it is
  // being worked on.
  bool listed = false;
};

class ChunkTable {
 public:
  ChunkTable() = default;
  ChunkTable(const ChunkTable&) = delete;
  ChunkTable& operator=(const ChunkTable&) = delete;

  const PoolChunk& operator[](ChunkId id) const { return chunks_[id]; }
  size_t size() const { return chunks_.size(); }
  // To change anything but `listed`.
  PoolChunk& Edit(ChunkId id);

  // A free chunk, not listed yet. Invalidates references to chunks.
  ChunkId New();
  void Delete(ChunkId id);

  void List(ChunkId id);
  void Unlist(ChunkId id);
  // The smallest listed chunk of at least `bytes`, of equal ones the lowest,
  // that was not freed after `freed_before` (0: that does not matter).
  ChunkId BestFit(uint64_t bytes, uint64_t freed_before) const;
  uint64_t largest_listed_bytes() const {
    return free_.empty() ? 0 : free_.rbegin()->size_bytes;
  }

  // From now on changes can be taken back.
  void KeepJournal() { keeps_journal_ = true; }
  // A moment to go back to.
  size_t Now() const { return journal_.size(); }
  void GoBack(size_t moment);
  // No moment until now will be asked for again.
  void ForgetPast() { journal_.clear(); }

 private:
  struct BySize {
    uint64_t size_bytes;
    uint64_t address;
    ChunkId id;
    friend bool operator<(const BySize& a, const BySize& b) {
      if (a.size_bytes != b.size_bytes) return a.size_bytes < b.size_bytes;
      return a.address < b.address;
    }
  };
  // What was done last, and what was there before.
  struct Change {
    enum class Kind : uint8_t { kEdit, kGrow, kList, kUnlist, kUnusedHead };
    Kind kind;
    ChunkId id;
    PoolChunk before;
  };

  BySize KeyOf(ChunkId id) const {
    return {chunks_[id].size_bytes, chunks_[id].address, id};
  }
  void Remember(Change::Kind kind, ChunkId id) {
    if (keeps_journal_) journal_.push_back({kind, id, {}});
  }

  std::vector<PoolChunk> chunks_;
  ChunkId unused_ = kNoChunk;
  std::pmr::unsynchronized_pool_resource nodes_;
  std::pmr::set<BySize> free_{&nodes_};
  bool keeps_journal_ = false;
  std::vector<Change> journal_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BFC_BFC_CHUNKS_H_
