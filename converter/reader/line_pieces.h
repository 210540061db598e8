// A line cut into pieces, which threads read side by side: it may hold millions
// of events.
#ifndef OOM_FORENSICS_CONVERTER_READER_LINE_PIECES_H_
#define OOM_FORENSICS_CONVERTER_READER_LINE_PIECES_H_

#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "converter/cancellation/beside.h"
#include "converter/reader/xplane_layout.h"

namespace oom_forensics {

// Cuts whole fields off the front of a message. What is damaged stays in one
// piece with all that follows.
std::string_view CutPiece(std::string_view* rest);

// A line's pieces, and what it says of itself: in one look at each event.
struct CutLine {
  LineHeader header;
  std::vector<std::string_view> pieces;
};
CutLine CutWhole(std::string_view line);

// Calls `read(piece)` for what `next()` gives until it gives nothing, with that
// many threads beside the caller's, and `take` in the caller's for the results,
// in their order. 0 threads: none.
template <typename Next, typename Read, typename Take>
void ReadSideBySide(uint32_t threads, Next next, Read read, Take take) {
  std::deque<std::future<std::invoke_result_t<Read, std::string_view>>> running;
  std::optional<std::string_view> piece = next();
  while (piece.has_value()) {
    const std::optional<std::string_view> later = next();
    if (threads == 0 || (running.empty() && !later.has_value())) {
      take(read(*piece));
    } else {
      if (running.size() == threads) {
        take(running.front().get());
        running.pop_front();
      }
      running.push_back(StartBeside([&read, at = *piece] { return read(at); }));
    }
    piece = later;
  }
  for (auto& part : running) take(part.get());
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_LINE_PIECES_H_
