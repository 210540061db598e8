// All regions that an allocator ever held, stacked without the empty space
// between them: the vertical axis of a picture of its addresses.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_REGION_STACK_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_REGION_STACK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/trace/allocator_trace.h"

namespace oom_forensics {

class RegionStack {
 public:
  struct Band {
    uint64_t address = 0;
    uint64_t size_bytes = 0;
    // Bytes of the bands below.
    uint64_t below_bytes = 0;
  };

  // `changes`: of the regions; those of one place are one band. Only what lies
  // in from_address <= a < to_address; to_address 0: no end.
  RegionStack(const std::vector<RegionChange>& changes, uint64_t from_address,
              uint64_t to_address);

  // By address.
  const std::vector<Band>& bands() const { return bands_; }
  uint64_t total_bytes() const { return total_bytes_; }

  // The part of [address, address + size) in its band, as bytes from the
  // bottom of the stack; none where it has no part there.
  struct Span {
    uint64_t from = 0;
    uint64_t to = 0;
  };
  std::optional<Span> Place(uint64_t address, uint64_t size_bytes) const;

 private:
  std::vector<Band> bands_;
  uint64_t total_bytes_ = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_REGION_STACK_H_
