#include "collector/recording/event_ring.h"

#include <algorithm>

namespace oom_forensics::collector {
namespace {

uint64_t PackSmallFields(const Event& event) {
  return uint64_t{event.allocator} |
         uint64_t{static_cast<uint8_t>(event.kind)} << 16 |
         uint64_t{event.age_100us} << 32;
}

}  // namespace

EventRing::EventRing(uint64_t capacity)
    : capacity_(std::max<uint64_t>(capacity, 1)),
      slots_(new Slot[capacity_]()) {}

void EventRing::Write(const Event& event) noexcept {
  std::atomic<uint64_t>* words = slots_[event.sequence % capacity_].words;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  // Late by a whole turn: its place is another's.
  if (words[0].load(kRelaxed) > event.sequence) return;
  words[0].store(event.sequence, kRelaxed);
  words[1].store(static_cast<uint64_t>(event.time_ns), kRelaxed);
  words[2].store(event.address, kRelaxed);
  words[3].store(static_cast<uint64_t>(event.value), kRelaxed);
  words[4].store(uint64_t{event.site} | uint64_t{event.thread} << 32, kRelaxed);
  words[5].store(PackSmallFields(event), kRelaxed);
  words[6].store(event.sequence, kRelaxed);
}

std::vector<Event> EventRing::Read(uint64_t first, uint64_t last) const {
  std::vector<Event> events;
  if (last < first || last == 0) return events;
  first = std::max<uint64_t>(first, 1);
  if (last >= capacity_) first = std::max(first, last - capacity_ + 1);
  events.reserve(last - first + 1);
  for (uint64_t sequence = first; sequence <= last; ++sequence) {
    const Slot& slot = slots_[sequence % capacity_];
    uint64_t words[kWords];
    for (int i = 0; i < kWords; ++i) {
      words[i] = slot.words[i].load(std::memory_order_relaxed);
    }
    Event event;
    event.sequence = words[0];
    event.time_ns = static_cast<int64_t>(words[1]);
    event.address = words[2];
    event.value = static_cast<int64_t>(words[3]);
    event.site = static_cast<SiteId>(words[4]);
    event.thread = static_cast<uint32_t>(words[4] >> 32);
    event.allocator = static_cast<AllocatorId>(words[5]);
    event.kind = static_cast<RecordedKind>(words[5] >> 16 & 0xff);
    event.age_100us = static_cast<uint32_t>(words[5] >> 32);
    if (event.sequence == sequence && words[6] == sequence) {
      events.push_back(event);
    }
  }
  return events;
}

}  // namespace oom_forensics::collector
