// The memory that the pools of in_step.cc get their regions from: it grants,
// refuses and places them at random, alike for the real allocator and the
// model.
#ifndef OOM_FORENSICS_TESTS_BFC_MODEL_SYSTEM_MEMORY_H_
#define OOM_FORENSICS_TESTS_BFC_MODEL_SYSTEM_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <random>

#include "converter/bfc/bfc_model.h"
#if __has_include("xla/tsl/framework/bfc_allocator.h")
#include "xla/tsl/framework/bfc_allocator.h"
#else
#include "tsl/framework/bfc_allocator.h"
#endif

namespace oom_forensics {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // Below `bound`.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// The memory that regions come from. Two of the same seed, asked alike, answer
// alike.
class SystemMemory {
 public:
  struct Character {
    // All that there is.
    uint64_t capacity_bytes = UINT64_MAX;
    // Sizes are rounded up to it.
    uint64_t granularity_bytes = 256;
    // Of 4 regions, so many lie right behind or before another.
    uint64_t touching = 0;
  };
  SystemMemory(uint64_t seed, const Character& character)
      : random_(seed), character_(character) {}

  std::optional<BfcRegion> Take(uint64_t size_bytes) {
    // Small ones are not refused: TensorFlow would ask for ever.
    if (size_bytes > 4096 &&
        taken_bytes_ + size_bytes > character_.capacity_bytes) {
      return std::nullopt;
    }
    const uint64_t unit = character_.granularity_bytes;
    size_bytes = (size_bytes + unit - 1) / unit * unit;
    const uint64_t address = Place(size_bytes);
    regions_[address] = size_bytes;
    taken_bytes_ += size_bytes;
    return BfcRegion{address, size_bytes};
  }
  void GiveBack(uint64_t address, uint64_t size_bytes) {
    // A merged region comes back whole.
    auto region = regions_.find(address);
    for (uint64_t left = size_bytes; left > 0;) {
      if (region == regions_.end() || region->second > left) std::abort();
      left -= region->second;
      region = regions_.erase(region);
    }
    taken_bytes_ -= size_bytes;
  }

 private:
  uint64_t Place(uint64_t size_bytes) {
    if (!regions_.empty() && random_.Below(4) < character_.touching) {
      auto beside = regions_.begin();
      std::advance(beside, random_.Below(regions_.size()));
      const uint64_t behind = beside->first + beside->second;
      if (IsFree(behind, size_bytes)) return behind;
      const uint64_t before = beside->first - size_bytes;
      if (before < beside->first && IsFree(before, size_bytes)) return before;
    }
    for (;;) {
      const uint64_t address =
          (uint64_t{1} << 40) + random_.Below(uint64_t{1} << 30) * 4096;
      if (IsFree(address - 4096, size_bytes + 8192)) return address;
    }
  }
  bool IsFree(uint64_t address, uint64_t size_bytes) const {
    auto next = regions_.lower_bound(address);
    if (next != regions_.end() && next->first < address + size_bytes) {
      return false;
    }
    if (next == regions_.begin()) return true;
    --next;
    return next->first + next->second <= address;
  }

  Random random_;
  const Character character_;
  uint64_t taken_bytes_ = 0;
  std::map<uint64_t, uint64_t> regions_;
};

class RealSource : public tsl::SubAllocator {
 public:
  RealSource(SystemMemory* memory, bool coalesces)
      : SubAllocator({}, {}), memory_(memory), coalesces_(coalesces) {}
  void* Alloc(size_t, size_t num_bytes, size_t* bytes_received) override {
    const auto region = memory_->Take(num_bytes);
    if (!region.has_value()) return nullptr;
    *bytes_received = region->size_bytes;
    return reinterpret_cast<void*>(region->address);
  }
  void Free(void* address, size_t num_bytes) override {
    memory_->GiveBack(reinterpret_cast<uint64_t>(address), num_bytes);
  }
  bool SupportsCoalescing() const override { return coalesces_; }

 private:
  SystemMemory* memory_;
  const bool coalesces_;
};

class ModelSource : public RegionSource {
 public:
  explicit ModelSource(SystemMemory* memory) : memory_(memory) {}
  std::optional<BfcRegion> Take(uint64_t size_bytes) override {
    return only_tries_ ? std::nullopt : memory_->Take(size_bytes);
  }
  void GiveBack(const BfcRegion& region) override {
    if (!only_tries_) memory_->GiveBack(region.address, region.size_bytes);
  }
  void set_only_tries(bool only_tries) { only_tries_ = only_tries; }

 private:
  SystemMemory* memory_;
  bool only_tries_ = false;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_TESTS_BFC_MODEL_SYSTEM_MEMORY_H_
