// Writes structures as bytes, and reads them back.
//
//   Fields(archive, value)   names the fields of a structure, once for both
//   Column<Value>            lies outside the bytes, where a file maps it
//   all other values         lie in the bytes, one after the other
#ifndef OOM_FORENSICS_CONVERTER_CACHE_ARCHIVE_H_
#define OOM_FORENSICS_CONVERTER_CACHE_ARCHIVE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/trace/column.h"

namespace oom_forensics {

// Where the bytes of a column are.
struct ColumnBytes {
  const char* data = nullptr;
  uint64_t size_bytes = 0;
};

template <typename Value>
inline constexpr bool kIsPlain =
    std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value> &&
    !std::is_same_v<Value, std::string_view>;

class ArchiveWriter {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (Write(values), ...);
  }

  const std::string& bytes() const { return bytes_; }
  // In the order in which the reader asks for them.
  const std::vector<ColumnBytes>& columns() const { return columns_; }

 private:
  template <typename Value>
  void Write(const Value& value) {
    if constexpr (kIsPlain<Value>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      // The one list of a structure's fields serves for reading, too.
      Fields(*this, const_cast<Value&>(value));
    }
  }
  void Write(const std::string& text) {
    Write(uint64_t{text.size()});
    bytes_.append(text);
  }
  template <typename Value>
  void Write(const std::vector<Value>& values) {
    Write(uint64_t{values.size()});
    for (const Value& value : values) Write(value);
  }
  template <typename Value>
  void Write(const Column<Value>& column) {
    Write(uint64_t{column.size()});
    columns_.push_back({reinterpret_cast<const char*>(column.data()),
                        column.size() * sizeof(Value)});
  }
  template <typename First, typename Second>
  void Write(const std::pair<First, Second>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename Value>
  void Write(const std::optional<Value>& value) {
    Write(value.has_value());
    if (value.has_value()) Write(*value);
  }
  template <typename Key, typename Value, typename Less>
  void Write(const std::map<Key, Value, Less>& map) {
    WriteMap(map);
  }
  template <typename Key, typename Value>
  void Write(const absl::flat_hash_map<Key, Value>& map) {
    WriteMap(map);
  }
  template <typename Map>
  void WriteMap(const Map& map) {
    Write(uint64_t{map.size()});
    for (const auto& [key, value] : map) (*this)(key, value);
  }
  // Several may share one text.
  void Write(const std::shared_ptr<const std::string>& text) {
    const auto known = std::find(shared_.begin(), shared_.end(), text);
    Write(static_cast<uint64_t>(known - shared_.begin()));
    if (known != shared_.end()) return;
    shared_.push_back(text);
    Write(text != nullptr);
    if (text != nullptr) Write(*text);
  }

  std::string bytes_;
  std::vector<ColumnBytes> columns_;
  std::vector<std::shared_ptr<const std::string>> shared_;
};

class ArchiveReader {
 public:
  // `columns` are the writer's, mapped, each where its values may lie; `owner`
  // keeps them there.
  ArchiveReader(std::string_view bytes, std::vector<ColumnBytes> columns,
                std::shared_ptr<const void> owner)
      : rest_(bytes), columns_(std::move(columns)), owner_(std::move(owner)) {}

  // What cannot be read is left as it is.
  template <typename... Values>
  void operator()(Values&... values) {
    (Read(values), ...);
  }

  // All was there, and no more.
  bool IsComplete() const {
    return whole_ && rest_.empty() && next_column_ == columns_.size();
  }

 private:
  template <typename Value>
  void Read(Value& value) {
    if constexpr (kIsPlain<Value>) {
      const std::string_view bytes = Take(sizeof(value));
      if (whole_) std::memcpy(&value, bytes.data(), sizeof(value));
    } else {
      Fields(*this, value);
    }
  }
  void Read(std::string& text) {
    uint64_t size = 0;
    Read(size);
    text = Take(size);
  }
  template <typename Value>
  void Read(std::vector<Value>& values) {
    values.clear();
    for (uint64_t left = ReadCount(); left > 0 && whole_; --left) {
      Read(values.emplace_back());
    }
  }
  template <typename Value>
  void Read(Column<Value>& column) {
    uint64_t size = 0;
    Read(size);
    whole_ = whole_ && next_column_ < columns_.size();
    if (!whole_) return;
    const ColumnBytes& bytes = columns_[next_column_++];
    whole_ = bytes.size_bytes % sizeof(Value) == 0 &&
             bytes.size_bytes / sizeof(Value) == size;
    if (!whole_) return;
    column = Column<Value>(reinterpret_cast<const Value*>(bytes.data),
                           static_cast<size_t>(size), owner_);
  }
  template <typename First, typename Second>
  void Read(std::pair<First, Second>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename Value>
  void Read(std::optional<Value>& value) {
    bool has_value = false;
    Read(has_value);
    if (has_value) Read(value.emplace());
  }
  template <typename Key, typename Value, typename Less>
  void Read(std::map<Key, Value, Less>& map) {
    ReadMap<Key, Value>(map);
  }
  template <typename Key, typename Value>
  void Read(absl::flat_hash_map<Key, Value>& map) {
    ReadMap<Key, Value>(map);
  }
  template <typename Key, typename Value, typename Map>
  void ReadMap(Map& map) {
    map.clear();
    for (uint64_t left = ReadCount(); left > 0 && whole_; --left) {
      Key key = {};
      Value value = {};
      (*this)(key, value);
      map.emplace(std::move(key), std::move(value));
    }
  }
  void Read(std::shared_ptr<const std::string>& text) {
    uint64_t known = 0;
    Read(known);
    if (known > shared_.size()) whole_ = false;
    if (!whole_) return;
    if (known == shared_.size()) {
      bool has_text = false;
      Read(has_text);
      std::string copy;
      if (has_text) Read(copy);
      shared_.push_back(
          has_text ? std::make_shared<const std::string>(std::move(copy))
                   : nullptr);
    }
    text = shared_[known];
  }

  // Of what takes at least a byte each.
  uint64_t ReadCount() {
    uint64_t count = 0;
    Read(count);
    if (count > rest_.size()) whole_ = false;
    return count;
  }
  std::string_view Take(uint64_t size_bytes) {
    if (size_bytes > rest_.size()) whole_ = false;
    if (!whole_) return {};
    const std::string_view taken = rest_.substr(0, size_bytes);
    rest_.remove_prefix(size_bytes);
    return taken;
  }

  std::string_view rest_;
  std::vector<ColumnBytes> columns_;
  size_t next_column_ = 0;
  std::shared_ptr<const void> owner_;
  std::vector<std::shared_ptr<const std::string>> shared_;
  bool whole_ = true;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CACHE_ARCHIVE_H_
