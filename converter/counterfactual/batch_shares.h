// How large the batch was, and what of each request grows with it.
//
// Where the step that was refused memory was forecast, that knows it of each
// op. Of all else the shapes show it, or they do not.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_BATCH_SHARES_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_BATCH_SHARES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "converter/forensics/batch_dimension.h"
#include "converter/trace/forecast_trace.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

class BatchShares {
 public:
  // `forecast`: of the step that was refused memory; null: there is none.
  // `found`: as the recorded shapes show it. `host` must outlive it.
  BatchShares(const HostTrace& host, const ForecastTrace* forecast,
              std::optional<BatchDimension> found);

  // Examples; 0: not known.
  int64_t size() const;

  // The share of the site's bytes that grows with the batch, as it was
  // forecast; nothing: the site is not of the step that was forecast.
  std::optional<double> ForecastShareOf(const AllocationSite& site) const;
  // The same by the shape that was recorded: all of it or nothing.
  double ShapeShareOf(const AllocationSite& site) const;
  // The first of these that knows, or else the second.
  double ShareOf(const AllocationSite& site) const;

 private:
  const HostTrace& host_;
  const std::optional<BatchDimension> found_;
  // The forecast's batch size; 0: no forecast knows it.
  int64_t forecast_size_ = 0;
  // By op, without what called it, and bytes.
  absl::flat_hash_map<std::pair<std::string, uint64_t>, double> shares_;
  // Bytes of the tensors of an input pipeline's element.
  absl::flat_hash_set<uint64_t> element_bytes_;
};

// Whether the op of that name takes the next element from an input pipeline.
bool TakesElement(const std::string& op);

// Whether a pipeline may have made it: what the program itself made, from NumPy
// say, may be as large.
bool MayBeElement(const AllocationSite& site);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_BATCH_SHARES_H_
