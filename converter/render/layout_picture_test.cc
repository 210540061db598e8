#include "converter/render/layout_picture.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

constexpr int64_t kMib = 1 << 20;

// A region whose chunks are given as sizes, negative ones free.
class MapBuilder {
 public:
  MapBuilder& Region(const std::vector<int64_t>& chunks) {
    auto* region = map_.add_regions();
    region->set_address(next_);
    for (const int64_t size : chunks) {
      auto* chunk = map_.add_chunks();
      chunk->set_address(next_);
      chunk->set_free(size < 0);
      chunk->set_size_bytes(static_cast<uint64_t>(size < 0 ? -size : size));
      chunk->set_region(static_cast<uint32_t>(map_.regions_size() - 1));
      region->set_size_bytes(region->size_bytes() + chunk->size_bytes());
      if (size < 0) {
        region->set_free_bytes(region->free_bytes() + chunk->size_bytes());
      }
      next_ += chunk->size_bytes();
    }
    next_ += kMib;  // Regions do not touch.
    return *this;
  }
  const AddressMap& map() const { return map_; }

 private:
  AddressMap map_;
  uint64_t next_ = 1 << 30;
};

TEST(DrawLayout, ShowsRegionsToScaleWithTheirHoles) {
  MapBuilder builder;
  builder.Region({64 * kMib, -64 * kMib, 128 * kMib}).Region({-128 * kMib});
  EXPECT_EQ(
      DrawLayout(builder.map(), 100 * kMib, {}),
      "    1 character is 1.00 MiB: # in use, *+- partly, . free\n"
      "     256.0 MiB  "
      "################################################################\n"
      "                "
      "................................................................\n"
      "                "
      "################################################################\n"
      "                "
      "################################################################\n"
      "     128.0 MiB  "
      "................................................................\n"
      "                "
      "................................................................\n"
      "       request  "
      "################################################################ ... "
      "100.0 MiB\n");
}

TEST(DrawLayout, ShadesByThePartInUse) {
  MapBuilder builder;
  // Cells of 256 bytes: one each of all, none, few, half and most in use.
  builder.Region({256, -256, 32, -224, 128, -128, 192, -64});
  EXPECT_EQ(DrawLayout(builder.map(), 0, {true, false}),
            "    1 character is 256 B: █ in use, ▓▒░ partly, · free\n"
            "      1.25 KiB  █·░▒▓\n");
}

TEST(DrawLayout, ColoursTheLargestHoleAndTheRequest) {
  MapBuilder builder;
  builder.Region({-256, 256, -512});
  EXPECT_EQ(DrawLayout(builder.map(), 256, {false, true}),
            "    1 character is 256 B: # in use, *+- partly, . free, "
            "\x1b[32mthe largest hole\x1b[0m\n"
            "      1.00 KiB  .#\x1b[32m..\x1b[0m\n"
            "       request  \x1b[31m#\x1b[0m\n");
}

TEST(DrawLayout, SumsUpRegionsThatAreTooMany) {
  MapBuilder builder;
  for (int i = 0; i < 20; ++i) builder.Region({256, -256});
  const std::string picture = DrawLayout(builder.map(), 0, {});
  EXPECT_NE(picture.find("2.00 KiB  in 4 more regions, 1.00 KiB of it free"),
            std::string::npos)
      << picture;
}

TEST(DrawLayout, IsNothingWithoutRegions) {
  EXPECT_EQ(DrawLayout(AddressMap(), 256, {}), "");
}

}  // namespace
}  // namespace oom_forensics
