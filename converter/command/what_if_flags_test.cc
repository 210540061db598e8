#include "converter/command/what_if_flags.h"

#include "converter/command/options.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(WhatIfFlagsTest, FlagsSayWhatIsDifferentAndTheRestIsAsElsewhere) {
  const auto options =
      ParseOptions({"what-if", "logdir", "--limit=1GiB", "--growth=0", "--gc",
                    "1", "--allocator=async", "--batch-scale=0.5",
                    "--without=encoder", "--dtype=decoder:float16",
                    "--dtype=float32", "--host=h", "--format=json"});
  ASSERT_TRUE(options.ok()) << options.status();
  const WhatIfSettings& settings = options->query.what_if();
  EXPECT_EQ(settings.limit_bytes(), uint64_t{1} << 30);
  EXPECT_TRUE(settings.has_growth());
  EXPECT_FALSE(settings.growth());
  EXPECT_TRUE(settings.garbage_collection());
  EXPECT_EQ(settings.allocator_kind(), "async");
  EXPECT_DOUBLE_EQ(settings.batch_scale(), 0.5);
  EXPECT_EQ(settings.without_scope(0), "encoder");
  EXPECT_EQ(settings.dtype(0).scope(), "decoder");
  EXPECT_EQ(settings.dtype(0).dtype(), "float16");
  EXPECT_EQ(settings.dtype(1).scope(), "");
  EXPECT_EQ(options->query.filter().host(), "h");
  EXPECT_EQ(options->path, "logdir");
  EXPECT_TRUE(options->query.filter().dtype().empty());
}

TEST(WhatIfFlagsTest, ElsewhereTheyAreFilters) {
  const auto options =
      ParseOptions({"convert", "logdir", "--dataset=allocations", "--rows=7",
                    "--dtype=float32"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->query.limit(), 7u);
  EXPECT_EQ(options->query.filter().dtype(), "float32");
}

TEST(WhatIfFlagsTest, WhatCannotBeMeantIsSaid) {
  for (const char* wrong : {"--limit=much", "--growth=yes", "--batch-scale=0",
                            "--without=", "--limit"}) {
    EXPECT_FALSE(ParseOptions({"what-if", "logdir", wrong}).ok()) << wrong;
  }
}

}  // namespace
}  // namespace oom_forensics
