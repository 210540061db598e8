#include "core/data_types.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(DataTypesTest, AreNamedAsTensorFlowNamesThem) {
  EXPECT_EQ(DtypeName(1), "float32");
  EXPECT_EQ(DtypeName(101), "float32") << "a reference type";
  EXPECT_EQ(DtypeName(0), "");
  EXPECT_EQ(DtypeName(33), "float4_e2m1fn");
  EXPECT_EQ(DtypeName(77), "dtype_77");
  EXPECT_EQ(DtypeName(-1), "dtype_-1");
}

TEST(DataTypesTest, HaveTheSizeOfAnElement) {
  EXPECT_EQ(DtypeBytes(2), 8u);
  EXPECT_EQ(DtypeBytes(7), 0u) << "strings have no fixed size";
  EXPECT_EQ(DtypeBytes(77), 0u);
}

TEST(DataTypesTest, ATypeIsFoundByItsName) {
  for (int32_t dtype = 1; DtypeName(dtype) != "dtype_34"; ++dtype) {
    EXPECT_EQ(DtypeOf(DtypeName(dtype)), dtype);
  }
  EXPECT_EQ(DtypeOf("float12"), 0);
  EXPECT_EQ(DtypeOf(""), 0);
}

}  // namespace
}  // namespace oom_forensics
