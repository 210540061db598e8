#include "converter/exports/gzip/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace oom_forensics {
namespace {

// deflateInit2: the largest window (2^15), and a gzip instead of a zlib header.
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;  // zlib's default.

}  // namespace

std::string Gzip(std::string_view data) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits,
                   kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // The only way that it can fail.
  }
  std::string compressed;
  char buffer[1 << 16];
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    // zlib counts in 32 bits.
    const size_t piece =
        std::min<size_t>(data.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    result = deflate(&stream, piece == data.size() ? Z_FINISH : Z_NO_FLUSH);
    data.remove_prefix(piece - stream.avail_in);
    compressed.append(buffer, sizeof(buffer) - stream.avail_out);
  }
  deflateEnd(&stream);
  return compressed;
}

}  // namespace oom_forensics
