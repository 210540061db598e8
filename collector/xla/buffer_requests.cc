#include "collector/xla/buffer_requests.h"

#include <protozero/pbf_reader.hpp>

namespace oom_forensics::collector {
namespace {

// Field numbers of xla/service/hlo.proto.
namespace buffer_assignment {
enum Field : uint32_t { kBufferAllocations = 3 };
}
namespace buffer_allocation {
enum Field : uint32_t {
  kIndex = 1,
  kSize = 2,
  kIsThreadLocal = 3,
  kIsEntryComputationParameter = 5,
  kMaybeLiveOut = 7,
  kIsConstant = 12,
};
}

void AddAllocation(protozero::pbf_reader fields, BufferPlan* plan) {
  BufferRequest request;
  bool is_output = false;
  bool is_constant = false;
  bool comes_from_elsewhere = false;
  while (fields.next()) {
    switch (fields.tag()) {
      case buffer_allocation::kIndex:
        request.index = fields.get_int64();
        break;
      case buffer_allocation::kSize:
        request.bytes = static_cast<uint64_t>(fields.get_int64());
        break;
      case buffer_allocation::kIsThreadLocal:
      case buffer_allocation::kIsEntryComputationParameter:
        comes_from_elsewhere |= fields.get_bool();
        break;
      case buffer_allocation::kMaybeLiveOut:
        is_output = fields.get_bool();
        break;
      case buffer_allocation::kIsConstant:
        is_constant = fields.get_bool();
        break;
      default:
        fields.skip();
    }
  }
  if (is_constant) {
    plan->constant_bytes += request.bytes;
  } else if (!comes_from_elsewhere && request.bytes != 0) {
    request.kind = is_output ? "output" : "temp";
    plan->requests.push_back(request);
  }
}

}  // namespace

BufferPlan PlanOf(std::string_view buffer_assignment) {
  BufferPlan plan;
  try {
    protozero::pbf_reader reader(buffer_assignment.data(),
                                 buffer_assignment.size());
    while (reader.next(buffer_assignment::kBufferAllocations)) {
      AddAllocation(reader.get_message(), &plan);
    }
  } catch (const protozero::exception&) {
    return {};
  }
  return plan;
}

}  // namespace oom_forensics::collector
