// Shares of cells, against the same picture painted cell by cell.
#include "converter/datasets/coverage_grid.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kRows = 7;
constexpr uint32_t kColumns = 11;

double Overlap(double from, double to, uint32_t cell) {
  return std::max(0.0, std::min(to, cell + 1.0) - std::max(from, cell + 0.0));
}

TEST(CoverageGridTest, EqualsThePicturePaintedCellByCell) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> row(0, kRows);
  std::uniform_real_distribution<double> column(0, kColumns);
  for (int round = 0; round < 200; ++round) {
    CoverageGrid grid(kRows, kColumns);
    std::vector<double> painted(kRows * kColumns);
    for (int i = 0; i < 3; ++i) {
      CellBox box;
      std::tie(box.from_row, box.to_row) =
          std::minmax({row(random), row(random)});
      std::tie(box.from_column, box.to_column) =
          std::minmax({column(random), column(random)});
      // Edges on the edges of cells and of the picture, too.
      if (i == 1) box.to_row = std::ceil(box.to_row);
      if (i == 2) box.from_column = std::floor(box.from_column);
      grid.Add(box);
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t c = 0; c < kColumns; ++c) {
          painted[r * kColumns + c] +=
              Overlap(box.from_row, box.to_row, r) *
              Overlap(box.from_column, box.to_column, c);
        }
      }
    }
    const std::string shares = grid.Shares();
    ASSERT_EQ(shares.size(), painted.size());
    for (size_t i = 0; i < painted.size(); ++i) {
      const double expected = std::min(255.0, painted[i] * 255);
      EXPECT_NEAR(static_cast<uint8_t>(shares[i]), expected, 1.0);
      EXPECT_EQ(shares[i] == 0, painted[i] < 1e-7);
    }
  }
}

}  // namespace
}  // namespace oom_forensics
