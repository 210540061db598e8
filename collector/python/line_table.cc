#include "collector/python/line_table.h"

#include <cstddef>

namespace oom_forensics::collector::python {
namespace {

// Objects/lnotab_notes.txt of 3.10: (bytes of instructions, lines further).
int LineOfPairs(std::string_view table, int first_line, int instruction) {
  constexpr int kNoLine = -128;
  int end = 0;
  int line = first_line;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int delta = static_cast<signed char>(table[i + 1]);
    end += static_cast<unsigned char>(table[i]);
    if (delta != kNoLine) line += delta;
    if (instruction < end) return delta == kNoLine ? 0 : line;
  }
  return 0;
}

// Objects/locations.md: an entry's first byte has its high bit set; it holds
// what kind of entry it is, and how many instructions it covers.
class LocationEntries {
 public:
  explicit LocationEntries(std::string_view table) : table_(table) {}

  bool AtEnd() const { return at_ >= table_.size(); }

  // Reads an entry: how many bytes of instructions it covers, how many lines it
  // is further than the one before, and whether it has a line.
  void Next(int* bytes, int* line_delta, bool* has_line) {
    const uint8_t first = Byte();
    const int kind = first >> 3 & 15;
    *bytes = ((first & 7) + 1) * 2;
    *line_delta = 0;
    *has_line = kind != 15;
    if (kind == 14 || kind == 13) {
      *line_delta = SignedVarint();
    } else if (kind >= 10 && kind <= 12) {
      *line_delta = kind - 10;
    }
    while (!AtEnd() && (static_cast<uint8_t>(table_[at_]) & 0x80) == 0) ++at_;
  }

 private:
  uint8_t Byte() {
    return AtEnd() ? uint8_t{0} : static_cast<uint8_t>(table_[at_++]);
  }

  // Six bits a byte, the lowest first; bit 6: more follow.
  int SignedVarint() {
    uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 6) {
      const uint8_t byte = Byte();
      value |= static_cast<uint32_t>(byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    const int magnitude = static_cast<int>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

  std::string_view table_;
  size_t at_ = 0;
};

int LineOfLocations(std::string_view table, int first_line, int instruction) {
  LocationEntries entries(table);
  int end = 0;
  int line = first_line;
  while (!entries.AtEnd()) {
    int bytes, delta;
    bool has_line;
    entries.Next(&bytes, &delta, &has_line);
    end += bytes;
    line += delta;
    if (instruction < end) return has_line ? line : 0;
  }
  return 0;
}

}  // namespace

int LineOfInstruction(LineTableFormat format, std::string_view table,
                      int first_line, int instruction) {
  if (instruction < 0) return first_line;
  return format == LineTableFormat::kPairs
             ? LineOfPairs(table, first_line, instruction)
             : LineOfLocations(table, first_line, instruction);
}

}  // namespace oom_forensics::collector::python
