// Which orders of a forecast TensorFlow is likely to take, by what the refused
// step held when it was refused.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_LIKELY_ORDERS_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_LIKELY_ORDERS_H_

#include <cstddef>
#include <vector>

#include "converter/counterfactual/step_stream.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

struct LikelyOrders {
  // By index; those that agree best with the step come first.
  std::vector<size_t> numbers;
  // The step held more tensors of an op than any order does.
  bool held_more = false;
};

// All orders where the step was not forecast op by op, or not refused.
LikelyOrders FindLikelyOrders(const ForecastTrace& forecast,
                              const StepStream& stream);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_LIKELY_ORDERS_H_
