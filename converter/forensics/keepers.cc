#include "converter/forensics/keepers.h"

#include <algorithm>

namespace oom_forensics {

std::vector<FoundKeeper> KeepersOf(const AllocatorReplay& replay,
                                   const std::vector<Row>& rows) {
  std::vector<FoundKeeper> found;
  for (const RecordedKeeper& recorded : replay.host().source.keepers()) {
    FoundKeeper keeper;
    keeper.recorded = &recorded;
    for (const Row row : rows) {
      if (std::binary_search(recorded.addresses.begin(),
                             recorded.addresses.end(),
                             replay.trace().address[row])) {
        keeper.rows.push_back(row);
        keeper.bytes += replay.BytesOf(row);
      }
    }
    if (!keeper.rows.empty()) found.push_back(std::move(keeper));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundKeeper& a, const FoundKeeper& b) {
                     return a.bytes > b.bytes;
                   });
  return found;
}

std::vector<Row> LiveWhenKeepersWereSought(const AllocatorReplay& replay,
                                           std::vector<Row> rows) {
  std::vector<Position> moments = replay.failure_positions();
  moments.push_back(replay.end_position());
  const auto was_gone = [&](Row row) {
    return std::none_of(moments.begin(), moments.end(), [&](Position moment) {
      return replay.IsLiveAt(row, moment);
    });
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), was_gone), rows.end());
  return rows;
}

}  // namespace oom_forensics
