// Pass 2: the events of a line, one after the other, without keeping them.
#ifndef OOM_FORENSICS_CONVERTER_READER_EVENT_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_EVENT_READER_H_

#include <cstdint>
#include <string_view>

#include "converter/quality/quality_log.h"
#include "converter/reader/stat_kind.h"
#include "converter/reader/wire.h"
#include "converter/reader/xplane_layout.h"
#include "proto/event_schema.h"

namespace oom_forensics {

// The value of an XStat, as it was written.
struct StatValue {
  enum class Type : uint8_t { kNone, kUint64, kInt64, kDouble, kText, kRef };
  Type type = Type::kNone;
  uint64_t bits = 0;  // kInt64 and kDouble: bit-cast.
  std::string_view text;

  // Saturated to what the type asked for can hold; 0 for text.
  uint64_t AsUint64() const;
  int64_t AsInt64() const;
  // An address: TensorFlow writes it as a signed number.
  uint64_t AsAddress() const {
    return type == Type::kUint64 || type == Type::kInt64 ? bits : 0;
  }
  // 0 where it is not finite.
  double AsDouble() const;
};

// The known stats of one event, site or plane.
class StatSet {
 public:
  static_assert(static_cast<size_t>(StatKind::kCount) <= 128);
  void Clear() { present_[0] = present_[1] = 0; }
  bool Has(StatKind kind) const {
    const size_t i = static_cast<size_t>(kind);
    return (present_[i / 64] >> (i % 64) & 1) != 0;
  }
  void Set(StatKind kind, const StatValue& value) {
    const size_t i = static_cast<size_t>(kind);
    present_[i / 64] |= uint64_t{1} << (i % 64);
    values_[i] = value;
  }
  // Whether it has none but these.
  template <StatKind... kinds>
  bool HasOnly() const {
    constexpr uint64_t kLow = (Bit(kinds, 0) | ...);
    constexpr uint64_t kHigh = (Bit(kinds, 1) | ...);
    return (present_[0] & ~kLow) == 0 && (present_[1] & ~kHigh) == 0;
  }
  // Only where Has.
  const StatValue& Get(StatKind kind) const {
    return values_[static_cast<size_t>(kind)];
  }
  uint64_t Uint64Or(StatKind kind, uint64_t otherwise) const {
    return Has(kind) ? Get(kind).AsUint64() : otherwise;
  }
  uint64_t AddressOr0(StatKind kind) const {
    return Has(kind) ? Get(kind).AsAddress() : 0;
  }
  int64_t Int64Or(StatKind kind, int64_t otherwise) const {
    return Has(kind) ? Get(kind).AsInt64() : otherwise;
  }

 private:
  static constexpr uint64_t Bit(StatKind kind, size_t word) {
    const auto i = static_cast<size_t>(kind);
    return i / 64 == word ? uint64_t{1} << (i % 64) : 0;
  }

  uint64_t present_[2] = {0, 0};
  StatValue values_[static_cast<size_t>(StatKind::kCount)];
};

// A tensorflow.DataType as a file states it; 0 where it cannot be one.
inline int32_t DtypeOf(int64_t stated) {
  constexpr int64_t kMaxDtype = 1000;
  return stated > 0 && stated < kMaxDtype ? static_cast<int32_t>(stated) : 0;
}

// What the numbers of one plane mean.
class PlaneVocabulary {
 public:
  PlaneVocabulary(const PlaneLayout& plane, StatVocabulary vocabulary);

  StatKind KindOf(int64_t stat_metadata_id) const {
    return kinds_.Get(stat_metadata_id);
  }
  // The text of a string or reference; empty for numbers.
  std::string_view TextOf(const StatValue& value) const;
  bool Speaks(StatKind kind) const {
    return (spoken_[static_cast<size_t>(kind) / 64] >>
                (static_cast<size_t>(kind) % 64) &
            1) != 0;
  }

 private:
  IdMap<StatKind> kinds_;
  IdMap<std::string_view> names_;
  uint64_t spoken_[2] = {0, 0};
};

// Whether a serialized XStat names, where every writer names it first, a kind
// that is of no interest: most do.
inline bool IsUnknownStat(std::string_view stat,
                          const PlaneVocabulary& vocabulary) {
  constexpr char kMetadataIdTag = schema::xstat::kMetadataId << 3;
  constexpr uint8_t kMore = 0x80;
  if (stat.size() < 3 || stat[0] != kMetadataIdTag) return false;
  const auto low = static_cast<uint8_t>(stat[1]);
  const auto high = static_cast<uint8_t>(stat[2]);
  if (low < kMore) return vocabulary.KindOf(low) == StatKind::kUnknown;
  return high < kMore &&
         vocabulary.KindOf((low & ~kMore) | high << 7) == StatKind::kUnknown;
}

// Whether a serialized XEvent may have a stat of interest; true also where only
// a closer look can tell.
bool MayHaveKnownStats(std::string_view event,
                       const PlaneVocabulary& vocabulary);

// Adds a serialized XStat to `stats`, if its kind is known. Throws as protozero
// does; for use within ForEachField.
void ReadStat(std::string_view stat, const PlaneVocabulary& vocabulary,
              StatSet* stats);

// The known stats of a plane.
StatSet ReadPlaneStats(const PlaneLayout& plane,
                       const PlaneVocabulary& vocabulary, QualityLog* quality);

struct EventFields {
  int64_t metadata_id = 0;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  StatSet stats;
};

// Reads a serialized XEvent; false where it is not well-formed.
inline bool ReadEvent(std::string_view message,
                      const PlaneVocabulary& vocabulary, EventFields* event) {
  event->metadata_id = event->offset_ps = event->duration_ps = 0;
  event->stats.Clear();
  return ForEachField(message, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xevent::kMetadataId:
        event->metadata_id = reader.get_int64();
        break;
      case schema::xevent::kOffsetPs:
        event->offset_ps = reader.get_int64();
        break;
      case schema::xevent::kDurationPs:
        event->duration_ps = reader.get_int64();
        break;
      case schema::xevent::kStats: {
        const std::string_view stat = View(reader.get_view());
        if (!IsUnknownStat(stat, vocabulary)) {
          ReadStat(stat, vocabulary, &event->stats);
        }
        break;
      }
      default:
        reader.skip();
    }
  });
}

// Which events of a line are read. A host's are in their millions, and those
// without a known stat are passed over in a fraction of the time.
enum class EventsToRead { kAll, kWithKnownStats };

// Calls `on_event(const EventFields&, std::string_view message)` for each event
// of the line; `message` is the event in the file. Events that are not
// well-formed are counted and left out. Returns what the line says about
// itself, which may stand behind its events.
template <typename OnEvent>
LineHeader ForEachEvent(std::string_view line,
                        const PlaneVocabulary& vocabulary, EventsToRead which,
                        QualityLog* quality, OnEvent on_event) {
  LineHeader header;
  EventFields event;
  const bool whole = ForEachField(line, [&](FieldReader& reader) {
    if (reader.tag() != schema::xline::kEvents) {
      header.TakeField(&reader);
      return;
    }
    ++header.event_count;
    const std::string_view message = View(reader.get_view());
    if (which == EventsToRead::kWithKnownStats &&
        !MayHaveKnownStats(message, vocabulary)) {
      return;
    }
    if (ReadEvent(message, vocabulary, &event)) {
      on_event(event, message);
    } else {
      quality->Add(QualityCounter::kMalformedMessages);
    }
  });
  if (!whole) quality->Add(QualityCounter::kMalformedMessages);
  return header;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_EVENT_READER_H_
