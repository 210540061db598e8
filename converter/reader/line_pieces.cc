#include "converter/reader/line_pieces.h"

#include <utility>

#include "converter/reader/wire.h"

namespace oom_forensics {
namespace {

// Long enough that it does not matter what a thread costs.
constexpr size_t kPieceBytes = size_t{1} << 20;

// Calls `on_field(reader)` for each field, which takes it or skips it, and
// cuts.
template <typename OnField>
std::string_view Cut(std::string_view* rest, OnField on_field) {
  const char* const begin = rest->data();
  try {
    FieldReader reader(*rest);
    while (reader.next()) {
      on_field(reader);
      const std::string_view behind = View(reader.data());
      const auto size = static_cast<size_t>(behind.data() - begin);
      if (size >= kPieceBytes) {
        *rest = behind;
        return {begin, size};
      }
    }
  } catch (const protozero::exception&) {
    // The reader of the piece comes upon it, too, and counts it.
  }
  return std::exchange(*rest, std::string_view());
}

}  // namespace

std::string_view CutPiece(std::string_view* rest) {
  return Cut(rest, [](FieldReader& reader) { reader.skip(); });
}

CutLine CutWhole(std::string_view line) {
  CutLine cut;
  while (!line.empty()) {
    cut.pieces.push_back(Cut(
        &line, [&cut](FieldReader& reader) { cut.header.TakeField(&reader); }));
  }
  return cut;
}

}  // namespace oom_forensics
