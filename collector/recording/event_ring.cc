#include "collector/recording/event_ring.h"

#include <algorithm>

namespace oom_forensics::collector {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// What threads may leave empty: a share of the events, and for small rings so
// many blocks.
constexpr uint64_t kSpareShare = 4;
constexpr uint64_t kSpareBlocks = 64;
// A thread leaves its block when so many parts of a turn have passed.
constexpr uint64_t kPartsOfTurn = 16;

uint64_t NextRingId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, kRelaxed) + 1;
}

}  // namespace

EventRing::EventRing(uint64_t capacity)
    : id_(NextRingId()),
      capacity_(std::max<uint64_t>(capacity, 1)),
      block_count_((capacity_ + capacity_ / kSpareShare) / kEventsPerBlock +
                   kSpareBlocks),
      blocks_(new Block[block_count_]()) {}

EventRing::Lane& EventRing::CurrentLane() noexcept {
  static thread_local Lane lane;
  return lane;
}

void EventRing::Write(const Event& event) noexcept {
  Lane& lane = CurrentLane();
  if (!LockBlock(lane)) TakeBlock(&lane);
  Block& block = *lane.block;
  block.events[lane.written++] = event;
  block.last = std::max(block.last, event.sequence);
  block.lock.unlock();
}

bool EventRing::LockBlock(const Lane& lane) const noexcept {
  if (lane.ring_id != id_ || lane.written == kEventsPerBlock) return false;
  if (taken_.load(kRelaxed) - lane.ticket > block_count_ / kPartsOfTurn) {
    return false;
  }
  if (!lane.block->lock.try_lock()) return false;
  if (lane.block->ticket == lane.ticket) return true;
  lane.block->lock.unlock();
  return false;
}

void EventRing::TakeBlock(Lane* lane) noexcept {
  while (true) {
    const uint64_t ticket = taken_.fetch_add(1, kRelaxed) + 1;
    Block& block = blocks_[ticket % block_count_];
    if (!block.lock.try_lock()) continue;
    // Somebody who came a turn later was here before.
    if (block.ticket > ticket) {
      block.lock.unlock();
      continue;
    }
    block.ticket = ticket;
    *lane = {id_, ticket, &block, 0};
    const uint64_t last = block.last;
    uint64_t gone = gone_.load(kRelaxed);
    while (gone < last && !gone_.compare_exchange_weak(gone, last, kRelaxed)) {
    }
    return;
  }
}

std::vector<Event> EventRing::Read(uint64_t first, uint64_t last) const {
  std::vector<Event> events;
  first = std::max(first, gone_.load(kRelaxed) + 1);
  if (last >= capacity_) first = std::max(first, last - capacity_ + 1);
  if (last < first) return events;
  // Each at its place, as sequences have few gaps.
  events.resize(last - first + 1);
  for (uint64_t i = 0; i < block_count_; ++i) {
    for (const Event& event : blocks_[i].events) {
      if (event.sequence < first || event.sequence > last) continue;
      events[event.sequence - first] = event;
    }
  }
  events.erase(
      std::remove_if(events.begin(), events.end(),
                     [](const Event& event) { return event.sequence == 0; }),
      events.end());
  return events;
}

}  // namespace oom_forensics::collector
