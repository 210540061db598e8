#include "converter/counterfactual/successive_steps.h"

#include <algorithm>
#include <random>

#include "converter/cancellation/cancellation.h"
#include "core/bfc.h"

namespace oom_forensics {

PlannedStep::PlannedStep(const ForecastTrace& forecast,
                         const std::vector<bool>& element_sites,
                         const std::vector<uint64_t>& bytes,
                         const ForecastOrderTrace& order) {
  const bool is_simulated =
      !forecast.planned && forecast.origin != kRecordedOrigin;
  for (size_t i = 0; i < order.events.size(); ++i) {
    StopIfCancelled(i);
    const ForecastEvent& event = order.events[i];
    if (event.is_free) {
      fates_[event.index] = Fate::kFreed;
      events_.push_back({true, false, kEmptyString, event.index, 0, i});
      continue;
    }
    const ForecastSite& site = forecast.sites[event.index];
    events_.push_back({false, site.is_scratch, site.op,
                       static_cast<uint32_t>(fates_.size()), bytes[event.index],
                       i});
    const bool is_element =
        event.index < element_sites.size() && element_sites[event.index];
    fates_.push_back(!is_simulated ? Fate::kReplaces
                     : is_element  ? Fate::kUntilNextStep
                                   : Fate::kStays);
  }
}

uint64_t PlannedStep::PeakBytes(bool with_scratch) const {
  uint64_t staying_bytes = 0;
  uint64_t peak_bytes = 0;
  std::vector<uint64_t> sizes(fates_.size());
  for (const bool is_first : {true, false}) {
    uint64_t in_use_bytes = staying_bytes;
    for (const Event& event : events_) {
      if (event.is_free) {
        in_use_bytes -= sizes[event.number];
        continue;
      }
      const bool stays = fates_[event.number] == Fate::kStays;
      const uint64_t bytes =
          event.is_scratch && !with_scratch ? 0 : RoundedBytes(event.bytes);
      if (stays && is_first) staying_bytes += bytes;
      sizes[event.number] = stays && !is_first ? 0 : bytes;
      in_use_bytes += sizes[event.number];
      peak_bytes = std::max(peak_bytes, in_use_bytes);
    }
  }
  return peak_bytes;
}

void PlannedStep::LeaveOut(uint64_t below_bytes) {
  std::vector<bool> is_placed(fates_.size());
  for (const Event& event : events_) {
    if (!event.is_free) is_placed[event.number] = event.bytes >= below_bytes;
  }
  events_.erase(std::remove_if(events_.begin(), events_.end(),
                               [&](const Event& event) {
                                 return !is_placed[event.number];
                               }),
                events_.end());
}

void SuccessiveSteps::FreeUntil(size_t event) {
  const auto is_due = [&](const LateFree& free) {
    if (free.due > event) return false;
    model_->Free(free.chunk);
    return true;
  };
  late_.erase(std::remove_if(late_.begin(), late_.end(), is_due), late_.end());
}

std::optional<size_t> SuccessiveSteps::Run(const PlannedStep& step,
                                           size_t most_late) {
  for (const ChunkId chunk : until_next_step_) model_->Free(chunk);
  until_next_step_.clear();
  // The same numbers on every machine.
  std::minstd_rand chance(static_cast<uint32_t>(steps_ + 1));
  // kNoChunk: not placed, or given back.
  std::vector<ChunkId> chunks(step.fates_.size(), kNoChunk);
  // Requests for scratch that wait.
  std::vector<const PlannedStep::Event*> waiting;
  // Scratch that is held.
  std::vector<const PlannedStep::Event*> scratch;
  const auto gets_it = [&](const PlannedStep::Event* request) {
    chunks[request->number] = model_->Allocate(request->bytes);
    const bool got = chunks[request->number] != kNoChunk;
    if (got && request->is_scratch) scratch.push_back(request);
    return got;
  };
  const auto gets_it_once_others_ended =
      [&](const PlannedStep::Event* request) {
        FreeUntil(SIZE_MAX);
        const auto has_ended = [&](const PlannedStep::Event* held) {
          if (held->op == request->op) return false;
          ChunkId& chunk = chunks[held->number];
          if (chunk != kNoChunk) model_->Free(chunk);
          chunk = kNoChunk;
          return true;
        };
        scratch.erase(std::remove_if(scratch.begin(), scratch.end(), has_ended),
                      scratch.end());
        return gets_it(request);
      };
  for (size_t i = 0; i < step.events_.size(); ++i) {
    StopIfCancelled(i);
    const PlannedStep::Event& event = step.events_[i];
    if (!late_.empty()) FreeUntil(event.index);
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), gets_it),
                  waiting.end());
    ChunkId& chunk = chunks[event.number];
    if (event.is_free) {
      if (chunk == kNoChunk) {
        // Its op came to its end only because it got it.
        const auto request = std::find_if(
            waiting.begin(), waiting.end(),
            [&](const auto* other) { return other->number == event.number; });
        if (request == waiting.end()) continue;
        if (!gets_it_once_others_ended(*request)) return (*request)->index;
        waiting.erase(request);
        scratch.pop_back();
        model_->Free(chunk);
        chunk = kNoChunk;
        continue;
      }
      if (const size_t late = most_late == 0 ? 0 : chance() % (most_late + 1);
          late == 0) {
        model_->Free(chunk);
      } else {
        late_.push_back({event.index + late, chunk});
      }
      chunk = kNoChunk;
      continue;
    }
    const bool stays = step.fates_[event.number] == PlannedStep::Fate::kStays;
    if (steps_ > 0 && stays) continue;
    if (gets_it(&event)) continue;
    if (event.is_scratch) {
      waiting.push_back(&event);
    } else if (!gets_it_once_others_ended(&event)) {
      return event.index;
    }
  }
  if (!waiting.empty()) return waiting.front()->index;
  FreeUntil(SIZE_MAX);
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i] == kNoChunk || step.fates_[i] == PlannedStep::Fate::kStays) {
      continue;
    }
    if (step.fates_[i] == PlannedStep::Fate::kUntilNextStep) {
      until_next_step_.push_back(chunks[i]);
    } else {
      model_->Free(chunks[i]);
    }
  }
  ++steps_;
  return std::nullopt;
}

}  // namespace oom_forensics
