#include "converter/bfc/bfc_chunks.h"

namespace oom_forensics {

PoolChunk& ChunkTable::Edit(ChunkId id) {
  if (keeps_journal_) {
    journal_.push_back({Change::Kind::kEdit, id, chunks_[id]});
  }
  return chunks_[id];
}

ChunkId ChunkTable::New() {
  ChunkId id = unused_;
  if (id != kNoChunk) {
    Remember(Change::Kind::kUnusedHead, unused_);
    unused_ = chunks_[id].next;
  } else {
    id = static_cast<ChunkId>(chunks_.size());
    chunks_.emplace_back();
    Remember(Change::Kind::kGrow, id);
  }
  PoolChunk& chunk = Edit(id);
  chunk.state = PoolChunk::State::kFree;
  chunk.freed_at = 0;
  return id;
}

void ChunkTable::Delete(ChunkId id) {
  Remember(Change::Kind::kUnusedHead, unused_);
  PoolChunk& chunk = Edit(id);
  chunk.state = PoolChunk::State::kUnused;
  chunk.next = unused_;
  unused_ = id;
}

void ChunkTable::List(ChunkId id) {
  Remember(Change::Kind::kList, id);
  free_.insert(KeyOf(id));
  chunks_[id].listed = true;
}

void ChunkTable::Unlist(ChunkId id) {
  Remember(Change::Kind::kUnlist, id);
  free_.erase(KeyOf(id));
  chunks_[id].listed = false;
}

ChunkId ChunkTable::BestFit(uint64_t bytes, uint64_t freed_before) const {
  auto best = free_.lower_bound({bytes, 0, 0});
  if (freed_before != 0) {
    while (best != free_.end() && chunks_[best->id].freed_at > freed_before) {
      ++best;
    }
  }
  return best == free_.end() ? kNoChunk : best->id;
}

void ChunkTable::GoBack(size_t moment) {
  while (journal_.size() > moment) {
    const Change& change = journal_.back();
    switch (change.kind) {
      case Change::Kind::kEdit:
        chunks_[change.id] = change.before;
        break;
      case Change::Kind::kGrow:
        chunks_.pop_back();
        break;
      case Change::Kind::kList:
        free_.erase(KeyOf(change.id));
        chunks_[change.id].listed = false;
        break;
      case Change::Kind::kUnlist:
        free_.insert(KeyOf(change.id));
        chunks_[change.id].listed = true;
        break;
      case Change::Kind::kUnusedHead:
        unused_ = change.id;
        break;
    }
    journal_.pop_back();
  }
}

}  // namespace oom_forensics
