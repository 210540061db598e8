#include "converter/trace/site_table.h"

#include <vector>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(SiteTableTest, EqualSitesHaveOneNumber) {
  SiteTable table;
  AllocationSite site;
  site.op = 3;
  site.requested_bytes = 100;
  const SiteId first = table.Intern(site);
  EXPECT_EQ(table.Intern(site), first);
  site.requested_bytes = 101;
  EXPECT_NE(table.Intern(site), first);
  EXPECT_EQ(table.size(), 2u);
}

TEST(ShapeTest, ParsesDimsAndTellsAScalarFromNothing) {
  std::vector<int64_t> dims;
  EXPECT_TRUE(ParseShape("[8,16]", &dims));
  EXPECT_EQ(dims, (std::vector<int64_t>{8, 16}));
  EXPECT_TRUE(ParseShape("[]", &dims));
  EXPECT_TRUE(dims.empty());
  EXPECT_FALSE(ParseShape("", &dims));
  EXPECT_FALSE(ParseShape("[?,3]", &dims));
  EXPECT_FALSE(ParseShape("[-1]", &dims));
  EXPECT_FALSE(ParseShape("[99999999999999999999]", &dims));
  EXPECT_TRUE(dims.empty());
}

}  // namespace
}  // namespace oom_forensics
