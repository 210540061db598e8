#include "collector/recording/recording.h"

#include <algorithm>
#include <map>
#include <utility>

namespace oom_forensics::collector {

void Rewind(const std::vector<Event>& events, LiveState* state) {
  std::map<std::pair<uint64_t, AllocatorId>, LiveAllocation> live;
  for (const LiveAllocation& allocation : state->allocations) {
    live[{allocation.address, allocation.allocator}] = allocation;
  }
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const std::pair place(event->address, event->allocator);
    switch (event->kind) {
      case RecordedKind::kAlloc:
        live.erase(place);
        break;
      case RecordedKind::kFree: {
        // An allocation that was never known does not come to life here.
        if (event->site == 0) break;
        LiveAllocation allocation;
        allocation.address = event->address;
        allocation.allocator = event->allocator;
        allocation.site = event->site;
        allocation.step_id = event->value;
        allocation.born_ns =
            event->time_ns - int64_t{event->age_100us} * 100'000;
        live[place] = allocation;
        break;
      }
      case RecordedKind::kRegionAdd:
        state->regions.erase(
            std::remove_if(state->regions.begin(), state->regions.end(),
                           [&](const Region& region) {
                             return region.address == event->address &&
                                    region.allocator == event->allocator;
                           }),
            state->regions.end());
        break;
      case RecordedKind::kRegionRemove:
        state->regions.push_back({event->address,
                                  static_cast<uint64_t>(event->value),
                                  event->allocator});
        break;
      case RecordedKind::kStepBegin:
        state->training_step = static_cast<int64_t>(event->address);
        break;
      case RecordedKind::kFailed:
        break;
    }
  }
  state->allocations.clear();
  for (const auto& [place, allocation] : live) {
    state->allocations.push_back(allocation);
  }
  if (!events.empty()) {
    state->next_sequence = events.front().sequence;
    state->time_ns = events.front().time_ns;
  }
}

}  // namespace oom_forensics::collector
