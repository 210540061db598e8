// Regions for a model of a pool: where TensorFlow got one of that size next, it
// lies where TensorFlow's did; any other lies behind all that were recorded.
#ifndef OOM_FORENSICS_CONVERTER_SIMULATION_RECORDED_REGIONS_H_
#define OOM_FORENSICS_CONVERTER_SIMULATION_RECORDED_REGIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "core/bfc_model.h"

namespace oom_forensics {

class RecordedRegions : public RegionSource {
 public:
  // Those that were taken from row `from` on. `refuses`: where TensorFlow got a
  // smaller region than the model asks for, the system had no larger one.
  RecordedRegions(const AllocatorReplay& replay, Row from, bool refuses);

  std::optional<BfcRegion> Take(uint64_t size_bytes) override;
  void GiveBack(const BfcRegion&) override {}

 private:
  std::vector<BfcRegion> recorded_;
  size_t next_ = 0;
  uint64_t free_address_ = 0;
  const bool refuses_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SIMULATION_RECORDED_REGIONS_H_
