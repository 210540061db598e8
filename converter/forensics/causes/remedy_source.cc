#include "converter/forensics/causes/remedy_source.h"

#include <algorithm>
#include <map>
#include <string>

#include "converter/forensics/source_frames.h"

namespace oom_forensics {

LineId DominantLine(const AllocatorReplay& replay,
                    const std::vector<Row>& rows) {
  std::map<LineId, uint64_t> bytes;
  for (const Row row : rows) {
    const LineId line = SourceOf(replay.host(), replay.SiteOf(row)).line;
    if (line != kNoLine) bytes[line] += replay.BytesOf(row);
  }
  const auto largest = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == bytes.end() ? kNoLine : largest->first;
}

void PointToSource(const OomCase& oom, const std::vector<Row>& rows,
                   Remedy* remedy) {
  const LineId line = DominantLine(oom.replay(), rows);
  if (line != kNoLine) {
    *remedy->mutable_line() = MakeSourceFrame(oom.host(), line);
  }
  const std::vector<FoundKeeper> keepers = oom.held().KeepersOf(rows);
  if (keepers.empty()) return;
  for (const std::string& link : keepers.front().recorded->chain) {
    remedy->add_keeper(link);
  }
}

}  // namespace oom_forensics
