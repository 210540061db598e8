#include "converter/datasets/source_messages.h"

#include <algorithm>

#include "converter/datasets/answer_parts.h"
#include "converter/forensics/held.h"
#include "converter/forensics/source_frames.h"

namespace oom_forensics {
namespace {

constexpr int kShownKeepers = 20;

}  // namespace

void AddKeepers(const SelectedAllocator& allocator,
                const std::vector<Row>& live,
                google::protobuf::RepeatedPtrField<Keeper>* keepers) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  for (const FoundKeeper& found : HeldTable(replay, live).KeepersOf(live)) {
    if (keepers->size() == kShownKeepers) break;
    Keeper* keeper = keepers->Add();
    keeper->set_host(host.host);
    for (const std::string& link : found.recorded->chain) {
      keeper->add_chain(link);
    }
    keeper->set_count(found.rows.size());
    keeper->set_allocated_bytes(found.bytes);
    const Row largest = *std::max_element(
        found.rows.begin(), found.rows.end(), [&replay](Row a, Row b) {
          return replay.BytesOf(a) < replay.BytesOf(b);
        });
    *keeper->mutable_example() = MakeAllocation(allocator, largest);
    const LineId line = host.source.StackAt(found.recorded->stack).user_line;
    if (line != kNoLine) *keeper->mutable_line() = MakeSourceFrame(host, line);
  }
}

}  // namespace oom_forensics
