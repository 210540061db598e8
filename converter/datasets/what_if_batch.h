// The batch of a WHAT_IF question: how large it was, and which requests grow
// with it.
//
// Where the step that was refused memory was forecast, that knows it of each
// op. Of all else the shapes show it, or they do not.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_BATCH_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_BATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/selection.h"

namespace oom_forensics {

class WhatIfBatch {
 public:
  explicit WhatIfBatch(const SelectedAllocator& allocator);

  // Examples; 0: not known.
  int64_t size() const;

  // Of what the site asks for, the share that grows with the batch, as it was
  // forecast; nothing: the site is not of the step that was forecast.
  std::optional<double> ForecastShareOf(const AllocationSite& site) const;
  // The same by the shape that was recorded: all of it or nothing.
  double ShapeShareOf(const AllocationSite& site) const;

 private:
  const HostTrace& host_;
  const std::shared_ptr<const FoundBatch> found_;
  // Of the forecast; 0: there is none that knows the batch.
  int64_t forecast_size_ = 0;
  // By op, without what called it, and bytes.
  absl::flat_hash_map<std::pair<std::string, uint64_t>, double> shares_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_BATCH_H_
