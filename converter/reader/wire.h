// Reading protobuf messages that may be cut off, malformed or hostile.
//
// protozero throws where a message is not well-formed. Nothing of that leaves
// the functions here: what was read before stays, and the damage is counted.
#ifndef OOM_FORENSICS_CONVERTER_READER_WIRE_H_
#define OOM_FORENSICS_CONVERTER_READER_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "protozero/exception.hpp"
#include "protozero/pbf_reader.hpp"
#include "protozero/varint.hpp"

namespace oom_forensics {

inline std::string_view View(protozero::data_view data) {
  return {data.data(), data.size()};
}

// A protozero reader that throws where a field is not of the type that is asked
// for. (protozero itself only asserts it, and a file may say anything.)
class FieldReader : private protozero::pbf_reader {
 public:
  explicit FieldReader(std::string_view message)
      : pbf_reader(message.data(), message.size()) {}

  using pbf_reader::data;
  using pbf_reader::next;
  using pbf_reader::skip;
  using pbf_reader::tag;

  int64_t get_int64() {
    Expect(protozero::pbf_wire_type::varint);
    return pbf_reader::get_int64();
  }
  uint64_t get_uint64() {
    Expect(protozero::pbf_wire_type::varint);
    return pbf_reader::get_uint64();
  }
  bool get_bool() { return get_uint64() != 0; }
  double get_double() {
    Expect(protozero::pbf_wire_type::fixed64);
    return pbf_reader::get_double();
  }
  protozero::data_view get_view() {
    Expect(protozero::pbf_wire_type::length_delimited);
    return pbf_reader::get_view();
  }
  // A repeated number: one of them, or several in one field ("packed").
  void AppendInt64s(std::vector<int64_t>* numbers) {
    if (wire_type() == protozero::pbf_wire_type::varint) {
      numbers->push_back(pbf_reader::get_int64());
      return;
    }
    const protozero::data_view packed = get_view();
    const char* at = packed.data();
    const char* const end = at + packed.size();
    while (at < end) {
      numbers->push_back(
          static_cast<int64_t>(protozero::decode_varint(&at, end)));
    }
  }

 private:
  void Expect(protozero::pbf_wire_type type) const {
    if (wire_type() != type) throw protozero::unknown_pbf_wire_type_exception();
  }
};

// A length-delimited field as far as it is there. Sets `cut` where the message
// ends before the field does; the reader must not be used any more then.
inline std::string_view ViewOrRest(FieldReader* reader, bool* cut) {
  try {
    return View(reader->get_view());
  } catch (const protozero::end_of_buffer_exception&) {
    *cut = true;
    return View(reader->data());
  }
}

// Calls `on_field(reader)` for each field of the message, which must take the
// value or skip it. Returns false where the message is not well-formed; the
// fields before the damage have been seen.
template <typename OnField>
bool ForEachField(std::string_view message, OnField on_field) {
  try {
    FieldReader reader(message);
    while (reader.next()) on_field(reader);
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

// The text of one field of a message, a view into it; empty where there is none
// before the message ends or is damaged.
inline std::string_view TextField(std::string_view message, uint32_t tag) {
  std::string_view text;
  ForEachField(message, [&](FieldReader& reader) {
    if (reader.tag() == tag) {
      text = View(reader.get_view());
    } else {
      reader.skip();
    }
  });
  return text;
}

// Values by the numbers that a file gives them: small and dense in real files,
// anything in hostile ones.
template <typename Value>
class IdMap {
 public:
  // For so many values.
  explicit IdMap(size_t count)
      : dense_ids_(static_cast<int64_t>(kMinDenseIds + count * kIdsPerValue)) {}

  void Set(int64_t id, Value value) {
    if (id < 0 || id >= dense_ids_) {
      sparse_[id] = std::move(value);
      return;
    }
    const size_t index = static_cast<size_t>(id);
    if (index >= dense_.size()) dense_.resize(index + 1);
    dense_[index] = std::move(value);
  }
  // A default-constructed value where there is none.
  const Value& Get(int64_t id) const {
    static const Value kNone{};
    if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
      return dense_[static_cast<size_t>(id)];
    }
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }

 private:
  // Numbers below so many have a place each, whether used or not.
  static constexpr size_t kMinDenseIds = 256;
  static constexpr size_t kIdsPerValue = 8;
  int64_t dense_ids_;
  std::vector<Value> dense_;
  absl::flat_hash_map<int64_t, Value> sparse_;
};

inline constexpr size_t kMaxTextBytes = 16384;

// Whether SanitizedText(text) is `text` for certain: it is short and of ASCII
// alone, as almost all is.
bool IsCleanText(std::string_view text);

// `text` as valid UTF-8 (bytes that are none become U+FFFD), at most
// kMaxTextBytes long; sets `shortened` where it was cut.
std::string SanitizedText(std::string_view text, bool* shortened);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_WIRE_H_
