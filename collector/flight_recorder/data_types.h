// Names of tensorflow.DataType.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_DATA_TYPES_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_DATA_TYPES_H_

#include <cstdint>
#include <string>

namespace oom_forensics::collector {

// "float32", as tf.DType.name has it; empty for 0 (not known); "dtype_<n>" for
// a number that this collector does not know.
std::string DataTypeName(int32_t dtype);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_DATA_TYPES_H_
