#include "converter/datasets/coverage_grid.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace oom_forensics {
namespace {

// A change of the share at a cell, against the one before it.
struct Change {
  size_t cell = 0;
  double share = 0;
};

// How a span covers the cells of a line: a part of its first, all of those
// between, a part of its last.
std::array<Change, 4> ChangesOf(double from, double to) {
  const auto first = static_cast<size_t>(from);
  const auto last = static_cast<size_t>(to);
  if (first == last) {
    return {{{first, to - from}, {first + 1, from - to}, {}, {}}};
  }
  const double in_first = static_cast<double>(first + 1) - from;
  const double in_last = to - static_cast<double>(last);
  return {{{first, in_first},
           {first + 1, 1 - in_first},
           {last, in_last - 1},
           {last + 1, -in_last}}};
}

}  // namespace

// One cell more in each direction for spans that end at the edge, and one for
// the change after the last cell.
CoverageGrid::CoverageGrid(uint32_t rows, uint32_t columns)
    : rows_(rows),
      columns_(columns),
      stride_(size_t{columns} + 2),
      inside_((size_t{rows} + 2) * stride_),
      along_row_(inside_.size()),
      changes_(inside_.size()) {}

void CoverageGrid::Add(const CellBox& box) {
  const auto row = static_cast<size_t>(box.from_row);
  const auto column = static_cast<size_t>(box.from_column);
  const bool in_one_row = row == static_cast<size_t>(box.to_row);
  if (in_one_row && column == static_cast<size_t>(box.to_column)) {
    inside_[IndexOf(row, column)] += box.rows() * box.columns();
    return;
  }
  const auto by_column = ChangesOf(box.from_column, box.to_column);
  if (in_one_row) {
    for (const Change& of_column : by_column) {
      along_row_[IndexOf(row, of_column.cell)] += box.rows() * of_column.share;
    }
    return;
  }
  for (const Change& of_row : ChangesOf(box.from_row, box.to_row)) {
    if (of_row.share == 0) continue;
    for (const Change& of_column : by_column) {
      changes_[IndexOf(of_row.cell, of_column.cell)] +=
          of_row.share * of_column.share;
    }
  }
}

std::string CoverageGrid::Shares() const {
  // What is less came from rounding.
  constexpr double kNothing = 1e-7;
  std::string shares;
  shares.reserve(size_t{rows_} * columns_);
  std::vector<double> below(columns_);
  for (uint32_t row = 0; row < rows_; ++row) {
    double along_row = 0;
    double change = 0;
    for (uint32_t column = 0; column < columns_; ++column) {
      const size_t cell = IndexOf(row, column);
      along_row += along_row_[cell];
      change += changes_[cell];
      below[column] += change;
      const double share = below[column] + along_row + inside_[cell];
      const double level =
          share < kNothing ? 0 : std::max(1.0, std::round(share * 255));
      shares.push_back(
          static_cast<char>(static_cast<uint8_t>(std::min(level, 255.0))));
    }
  }
  return shares;
}

}  // namespace oom_forensics
