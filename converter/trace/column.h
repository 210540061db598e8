// A column of values that never change: its own, or those of a mapped file.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_COLUMN_H_
#define OOM_FORENSICS_CONVERTER_TRACE_COLUMN_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace oom_forensics {

// Copies share their values.
template <typename Value>
class Column {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  Column() = default;
  // Not explicit: it is the vector, finished.
  Column(std::vector<Value> values) {  // NOLINT(google-explicit-constructor)
    values.shrink_to_fit();
    const auto own =
        std::make_shared<const std::vector<Value>>(std::move(values));
    data_ = own->data();
    size_ = own->size();
    owner_ = own;
  }
  // `owner` keeps `data` where it is.
  Column(const Value* data, size_t size, std::shared_ptr<const void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}

  const Value& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Value* data() const { return data_; }
  const Value* begin() const { return data_; }
  const Value* end() const { return data_ + size_; }
  const Value& front() const { return data_[0]; }
  const Value& back() const { return data_[size_ - 1]; }
  std::vector<Value> ToVector() const { return {begin(), end()}; }

  size_t ResidentBytes() const { return size_ * sizeof(Value); }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  const Value* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_COLUMN_H_
