// A picture of cells, and which share of each is covered by rectangles that do
// not overlap.
//
// A rectangle costs the same whatever its size: it is written down by where its
// shares change, in rows and in columns, and the sums are made once at the end.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_COVERAGE_GRID_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_COVERAGE_GRID_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oom_forensics {

// A part of a picture, in cells from its lower left corner.
struct CellBox {
  double from_row = 0;
  double to_row = 0;
  double from_column = 0;
  double to_column = 0;

  double rows() const { return to_row - from_row; }
  double columns() const { return to_column - from_column; }
};

class CoverageGrid {
 public:
  CoverageGrid(uint32_t rows, uint32_t columns);

  // `box` must lie within the picture.
  void Add(const CellBox& box);

  // The share of each cell, row by row from the lowest: 0 for none, 255 for
  // all; what covers something is at least 1.
  std::string Shares() const;

 private:
  size_t IndexOf(size_t row, size_t column) const {
    return row * stride_ + column;
  }

  uint32_t rows_;
  uint32_t columns_;
  // Cells of a row of the grids below.
  size_t stride_;
  // The share of a cell that rectangles inside it cover.
  std::vector<double> inside_;
  // For rectangles inside one row: how a cell's share differs from that of the
  // cell before it.
  std::vector<double> along_row_;
  // For all others: how that differs from the row below.
  std::vector<double> changes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_COVERAGE_GRID_H_
