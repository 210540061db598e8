#include "converter/exports/gzip/gzip.h"

#include <zlib.h>

#include <string>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

std::string Gunzip(const std::string& compressed, size_t size) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string data(size + 1, '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  data.resize(stream.total_out);
  inflateEnd(&stream);
  return data;
}

TEST(Gzip, GivesBackWhatWentIn) {
  std::string data;
  for (int i = 0; i < 300000; ++i) data += std::to_string(i);
  const std::string compressed = Gzip(data);
  EXPECT_LT(compressed.size(), data.size() / 2);
  EXPECT_EQ(Gunzip(compressed, data.size()), data);
}

TEST(Gzip, TakesNothing) { EXPECT_EQ(Gunzip(Gzip(""), 0), ""); }

TEST(Gzip, IsTheSameEveryTime) { EXPECT_EQ(Gzip("layer"), Gzip("layer")); }

}  // namespace
}  // namespace oom_forensics
