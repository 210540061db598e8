// The holes of an allocator over time: at every position the largest hole, how
// many there are, and how much of the free memory is too small for a request.
//
// Built piece by piece, on as many threads as there are, by one pass over the
// rows with the holes in an ordered tree; takes 28 bytes a row. Made only where
// fragmentation over time is asked for.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_HOLE_TIMELINE_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_HOLE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct HoleState {
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint64_t free_chunk_count = 0;
  // Free bytes in holes smaller than the request.
  uint64_t unusable_bytes = 0;
};

class HoleTimeline {
 public:
  // A piece begins with the map of its first position.
  static constexpr Row kPieceRows = Row{1} << 20;

  // `request_bytes` is what a hole is too small for; it is rounded up as the
  // allocator does.
  HoleTimeline(const AllocatorReplay& replay, uint64_t request_bytes,
               Row piece_rows = kPieceRows);

  HoleState At(Position position) const;
  // The position with the smallest largest hole, begin to end, both included.
  Position WorstOver(Position begin, Position end) const;
  uint64_t request_bytes() const { return request_bytes_; }
  uint64_t ResidentBytes() const;

 private:
  static constexpr uint32_t kFanOut = 32;

  // The states after the rows of [begin, end).
  void ReplayPiece(const AllocatorReplay& replay, Row begin, Row end);
  void BuildPyramid();
  Position Worse(Position a, Position b) const {
    return largest_bytes_[b] < largest_bytes_[a] ? b : a;
  }

  uint64_t request_bytes_;
  // By position. No vectors: whoever replays a piece is the first to touch it.
  size_t positions_;
  std::unique_ptr<uint64_t[]> free_bytes_;
  std::unique_ptr<uint64_t[]> largest_bytes_;
  std::unique_ptr<uint64_t[]> unusable_bytes_;
  std::unique_ptr<uint32_t[]> counts_;
  // levels_[k][i]: the worst position of the i-th run of kFanOut^(k+1).
  std::vector<std::vector<Position>> levels_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_HOLE_TIMELINE_H_
