#include "converter/render/layout_picture.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kLineCells = 64;
// The picture has about so many cells; with many small regions a few more.
constexpr uint64_t kCells = kLineCells * 6;
// Regions beyond these are summed up in a line.
constexpr int kMaxRegions = 16;
constexpr uint64_t kSmallestCellBytes = 256;

constexpr std::string_view kHoleColor = "\x1b[32m";
constexpr std::string_view kRequestColor = "\x1b[31m";
constexpr std::string_view kNoColor = "\x1b[0m";

// By the part in use, from none to all.
constexpr std::string_view kUnicodeShades[] = {"·", "░", "▒", "▓", "█"};
constexpr std::string_view kAsciiShades[] = {".", "-", "+", "*", "#"};

struct Cell {
  uint64_t size_bytes = 0;
  uint64_t used_bytes = 0;
  // At least in part.
  bool in_largest_hole = false;
};

class Picture {
 public:
  Picture(const AddressMap& map, const TerminalStyle& style)
      : map_(map), style_(style) {
    uint64_t reserved_bytes = 0;
    for (const Region& region : map.regions()) {
      reserved_bytes += region.size_bytes();
    }
    while (cell_bytes_ * kCells < reserved_bytes) cell_bytes_ *= 2;
    for (const Chunk& chunk : map.chunks()) {
      if (chunk.free() && (largest_hole_ == nullptr ||
                           chunk.size_bytes() > largest_hole_->size_bytes())) {
        largest_hole_ = &chunk;
      }
    }
  }

  std::string Draw(uint64_t request_bytes) {
    std::string text = Legend();
    const std::vector<std::vector<Cell>> regions = FillCells();
    const int shown = std::min(map_.regions_size(), kMaxRegions);
    for (int i = 0; i < shown; ++i) {
      AddLines(FormatBytes(map_.regions(i).size_bytes()),
               regions[static_cast<size_t>(i)], &text);
    }
    if (shown < map_.regions_size()) AddRest(shown, &text);
    if (request_bytes > 0) AddRequest(request_bytes, &text);
    return text;
  }

 private:
  std::string_view Shade(const Cell& cell) const {
    // Only a cell that is wholly free or wholly used looks so.
    size_t shade = 4;
    if (cell.used_bytes == 0) {
      shade = 0;
    } else if (cell.used_bytes < cell.size_bytes) {
      shade = 1 + std::min<size_t>(2, cell.used_bytes * 3 / cell.size_bytes);
    }
    return style_.unicode ? kUnicodeShades[shade] : kAsciiShades[shade];
  }

  std::string Legend() const {
    const auto* shades = style_.unicode ? kUnicodeShades : kAsciiShades;
    return absl::StrCat(
        "    1 character is ", FormatBytes(cell_bytes_), ": ",
        std::string(shades[4]), " in use, ", std::string(shades[3]),
        std::string(shades[2]), std::string(shades[1]), " partly, ",
        std::string(shades[0]), " free", style_.color ? ", " : "",
        Colored(kHoleColor, style_.color ? "the largest hole" : ""), "\n");
  }

  std::string Colored(std::string_view color, std::string_view text) const {
    if (!style_.color) return std::string(text);
    return absl::StrCat(std::string(color), std::string(text),
                        std::string(kNoColor));
  }

  std::vector<std::vector<Cell>> FillCells() const {
    std::vector<std::vector<Cell>> regions;
    for (const Region& region : map_.regions()) {
      const uint64_t count =
          (region.size_bytes() + cell_bytes_ - 1) / cell_bytes_;
      std::vector<Cell>& cells = regions.emplace_back(count);
      for (Cell& cell : cells) cell.size_bytes = cell_bytes_;
      if (!cells.empty()) {
        cells.back().size_bytes =
            region.size_bytes() - (count - 1) * cell_bytes_;
      }
    }
    for (const Chunk& chunk : map_.chunks()) {
      AddChunk(chunk, map_.regions(static_cast<int>(chunk.region())),
               &regions[chunk.region()]);
    }
    return regions;
  }

  void AddChunk(const Chunk& chunk, const Region& region,
                std::vector<Cell>* cells) const {
    uint64_t offset = chunk.address() - region.address();
    uint64_t left = chunk.size_bytes();
    while (left > 0 && offset / cell_bytes_ < cells->size()) {
      Cell& cell = (*cells)[offset / cell_bytes_];
      const uint64_t here = std::min(left, cell_bytes_ - offset % cell_bytes_);
      if (!chunk.free()) cell.used_bytes += here;
      if (&chunk == largest_hole_) cell.in_largest_hole = true;
      offset += here;
      left -= here;
    }
  }

  static bool IsInHole(const Cell& cell) {
    return cell.in_largest_hole && cell.used_bytes == 0;
  }

  void AddLines(const std::string& label, const std::vector<Cell>& cells,
                std::string* text) const {
    for (size_t begin = 0; begin < cells.size(); begin += kLineCells) {
      absl::StrAppendFormat(text, "    %10s  ", begin == 0 ? label : "");
      const size_t end = std::min<size_t>(begin + kLineCells, cells.size());
      for (size_t i = begin; i < end;) {
        const bool in_hole = IsInHole(cells[i]);
        std::string shades;
        for (; i < end && IsInHole(cells[i]) == in_hole; ++i) {
          shades += Shade(cells[i]);
        }
        *text += in_hole ? Colored(kHoleColor, shades) : shades;
      }
      absl::StrAppend(text, "\n");
    }
  }

  void AddRest(int shown, std::string* text) const {
    uint64_t size_bytes = 0;
    uint64_t free_bytes = 0;
    for (int i = shown; i < map_.regions_size(); ++i) {
      size_bytes += map_.regions(i).size_bytes();
      free_bytes += map_.regions(i).free_bytes();
    }
    absl::StrAppendFormat(text, "    %10s  in %d more regions, %s of it free\n",
                          FormatBytes(size_bytes), map_.regions_size() - shown,
                          FormatBytes(free_bytes));
  }

  void AddRequest(uint64_t request_bytes, std::string* text) const {
    const uint64_t count = std::max<uint64_t>(1, request_bytes / cell_bytes_);
    const uint64_t drawn = std::min(count, kLineCells);
    const std::string_view shade =
        (style_.unicode ? kUnicodeShades : kAsciiShades)[4];
    std::string bar;
    for (uint64_t i = 0; i < drawn; ++i) bar += shade;
    absl::StrAppendFormat(
        text, "    %10s  %s%s\n", "request", Colored(kRequestColor, bar),
        drawn < count ? absl::StrCat(" ... ", FormatBytes(request_bytes)) : "");
  }

  const AddressMap& map_;
  const TerminalStyle style_;
  uint64_t cell_bytes_ = kSmallestCellBytes;
  const Chunk* largest_hole_ = nullptr;
};

}  // namespace

std::string DrawLayout(const AddressMap& map, uint64_t request_bytes,
                       const TerminalStyle& style) {
  if (map.regions().empty()) return "";
  return Picture(map, style).Draw(request_bytes);
}

}  // namespace oom_forensics
