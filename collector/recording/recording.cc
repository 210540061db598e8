#include "collector/recording/recording.h"

#include <new>

#include "collector/recording/erase_if.h"

namespace oom_forensics::collector {

void Rewinder::Undo(const Event& event) {
  LiveAllocation allocation;
  allocation.address = event.address;
  allocation.allocator = event.allocator;
  switch (event.kind) {
    case RecordedKind::kAlloc:
      Remember(allocation);
      break;
    case RecordedKind::kFree:
      // An allocation that was never known does not come to life here.
      if (event.site == 0) break;
      allocation.site = event.site;
      allocation.step_id = event.value;
      allocation.born_ns = event.time_ns - int64_t{event.age_100us} * 100'000;
      Remember(allocation);
      break;
    case RecordedKind::kRegionAdd:
      EraseIf(&state_->regions, [&event](const Region& region) {
        return region.address == event.address &&
               region.allocator == event.allocator;
      });
      break;
    case RecordedKind::kRegionRemove:
      state_->regions.push_back(
          {event.address, static_cast<uint64_t>(event.value), event.allocator});
      break;
    case RecordedKind::kStepBegin:
      state_->training_step = static_cast<int64_t>(event.address);
      break;
    case RecordedKind::kFailed:
      break;
  }
  state_->next_sequence = event.sequence;
  state_->time_ns = event.time_ns;
}

void Rewinder::Finish() {
  EraseIf(&state_->allocations, [this](const LiveAllocation& allocation) {
    return before_.Contains(allocation.address, allocation.allocator);
  });
  before_.ForEach([this](const LiveAllocation& allocation) {
    if (allocation.site != 0) state_->allocations.push_back(allocation);
  });
}

void Rewinder::Remember(const LiveAllocation& allocation) {
  if (!before_.Insert(allocation)) throw std::bad_alloc();
}

}  // namespace oom_forensics::collector
