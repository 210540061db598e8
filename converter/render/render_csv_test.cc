#include <string>

#include "converter/render/render.h"
#include "gtest/gtest.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {
namespace {

// The table of one allocation with that op and shape.
std::string CsvOf(const std::string& op, const std::string& shape) {
  Allocations answer;
  Allocation* const allocation = answer.add_allocations();
  allocation->set_op_name(op);
  allocation->add_shape(-1);
  allocation->set_scope(shape);
  return RenderCsv(answer, "allocations");
}

TEST(RenderCsvTest, HandsNoFormulaFromANameToASpreadsheet) {
  for (const char* const name :
       {"=HYPERLINK(0)", "+1", "-1+cmd()", "-cmd()", "@SUM(A1)", "\t=1"}) {
    const std::string csv = CsvOf(name, "dense");
    EXPECT_NE(csv.find(std::string(",'") + name + ","), std::string::npos)
        << csv;
  }
  EXPECT_NE(CsvOf("=1,2", "").find("\"'=1,2\""), std::string::npos);
}

TEST(RenderCsvTest, LeavesNumbersAndOrdinaryNamesAsTheyAre) {
  const std::string csv = CsvOf("dense/MatMul", "dense");
  EXPECT_NE(csv.find(",dense/MatMul,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",-1,"), std::string::npos) << "a dimension";
  EXPECT_EQ(csv.find('\''), std::string::npos);
}

}  // namespace
}  // namespace oom_forensics
