#include "converter/reader/event_reader.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace oom_forensics {
namespace {

double ToDouble(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

uint64_t StatValue::AsUint64() const {
  switch (type) {
    case Type::kUint64:
      return bits;
    case Type::kInt64:
      return static_cast<int64_t>(bits) < 0 ? 0 : bits;
    case Type::kDouble: {
      const double value = AsDouble();
      if (value <= 0) return 0;
      return value >= 0x1p64 ? std::numeric_limits<uint64_t>::max()
                             : static_cast<uint64_t>(value);
    }
    case Type::kNone:
    case Type::kText:
    case Type::kRef:
      return 0;
  }
  return 0;
}

int64_t StatValue::AsInt64() const {
  if (type == Type::kInt64) return static_cast<int64_t>(bits);
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const uint64_t value = AsUint64();
  return static_cast<int64_t>(value < kMax ? value : kMax);
}

double StatValue::AsDouble() const {
  switch (type) {
    case Type::kUint64:
      return static_cast<double>(bits);
    case Type::kInt64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case Type::kDouble: {
      const double value = ToDouble(bits);
      return std::isfinite(value) ? value : 0;
    }
    case Type::kNone:
    case Type::kText:
    case Type::kRef:
      return 0;
  }
  return 0;
}

PlaneVocabulary::PlaneVocabulary(const PlaneLayout& plane,
                                 StatVocabulary vocabulary)
    : kinds_(plane.stat_names.size()), names_(plane.stat_names.size()) {
  for (const auto& [id, name] : plane.stat_names) {
    names_.Set(id, name);
    const StatKind kind = StatKindOf(name, vocabulary);
    kinds_.Set(id, kind);
    spoken_[static_cast<size_t>(kind) / 64] |=
        uint64_t{1} << (static_cast<size_t>(kind) % 64);
  }
}

std::string_view PlaneVocabulary::TextOf(const StatValue& value) const {
  if (value.type == StatValue::Type::kText) return value.text;
  if (value.type != StatValue::Type::kRef) return {};
  return names_.Get(static_cast<int64_t>(value.bits));
}

namespace {

// Where the varint that begins at `at` ends; null where that is not before
// `end`. (Little-endian, as TensorFlow's platforms are.)
inline const char* EndOfVarint(const char* at, const char* end) {
  constexpr uint64_t kMoreBits = 0x8080808080808080;
  if (end - at >= 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof(bytes));
    const uint64_t last = ~bytes & kMoreBits;
    if (last != 0) return at + __builtin_ctzll(last) / 8 + 1;
  }
  while (at < end) {
    if (static_cast<signed char>(*at++) >= 0) return at;
  }
  return nullptr;
}

}  // namespace

bool MayHaveKnownStats(std::string_view event,
                       const PlaneVocabulary& vocabulary) {
  constexpr uint8_t kMore = 0x80;
  constexpr uint8_t kWireType = 7;
  constexpr uint8_t kVarint = 0;
  constexpr uint8_t kLengthDelimited = 2;
  constexpr uint8_t kStatsKey = schema::xevent::kStats << 3 | kLengthDelimited;
  const char* at = event.data();
  const char* const end = at + event.size();
  while (at < end) {
    const auto key = static_cast<uint8_t>(*at++);
    if (key >= kMore || at == end) return true;
    if ((key & kWireType) == kVarint) {
      at = EndOfVarint(at, end);
      if (at == nullptr) return true;
      continue;
    }
    if ((key & kWireType) != kLengthDelimited) return true;
    const auto size = static_cast<uint8_t>(*at++);
    if (size >= kMore || size > end - at) return true;
    if (key == kStatsKey && !IsUnknownStat({at, size}, vocabulary)) return true;
    at += size;
  }
  return false;
}

void ReadStat(std::string_view stat, const PlaneVocabulary& vocabulary,
              StatSet* stats) {
  StatKind kind = vocabulary.KindOf(0);
  StatValue value;
  FieldReader reader(stat);
  while (reader.next()) {
    switch (reader.tag()) {
      case schema::xstat::kMetadataId:
        kind = vocabulary.KindOf(reader.get_int64());
        break;
      case schema::xstat::kDoubleValue: {
        const double number = reader.get_double();
        value.type = StatValue::Type::kDouble;
        std::memcpy(&value.bits, &number, sizeof(number));
        break;
      }
      case schema::xstat::kUint64Value:
        value.type = StatValue::Type::kUint64;
        value.bits = reader.get_uint64();
        break;
      case schema::xstat::kInt64Value:
        value.type = StatValue::Type::kInt64;
        value.bits = static_cast<uint64_t>(reader.get_int64());
        break;
      case schema::xstat::kStrValue:
      case schema::xstat::kBytesValue:
        value.type = StatValue::Type::kText;
        value.text = View(reader.get_view());
        break;
      case schema::xstat::kRefValue:
        value.type = StatValue::Type::kRef;
        value.bits = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }
  if (kind != StatKind::kUnknown) stats->Set(kind, value);
}

StatSet ReadPlaneStats(const PlaneLayout& plane,
                       const PlaneVocabulary& vocabulary, QualityLog* quality) {
  StatSet stats;
  for (const std::string_view stat : plane.stats) {
    try {
      ReadStat(stat, vocabulary, &stats);
    } catch (const protozero::exception&) {
      quality->Add(QualityCounter::kMalformedMessages);
    }
  }
  return stats;
}

}  // namespace oom_forensics
