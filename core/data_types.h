// tensorflow.DataType (tensorflow/core/framework/types.proto).
#ifndef OOM_FORENSICS_CORE_DATA_TYPES_H_
#define OOM_FORENSICS_CORE_DATA_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace oom_forensics {

// "float32" for 1, as tf.DType.name has it; empty for 0 (not known);
// "dtype_<n>" for one that this version does not know. Reference types (100 +
// n) are named as n.
std::string DtypeName(int32_t dtype);

// The type that DtypeName() calls so; 0: it is not known.
int32_t DtypeOf(std::string_view name);

// Bytes of one element; 0: unknown or of variable size (strings, resources).
uint32_t DtypeBytes(int32_t dtype);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_DATA_TYPES_H_
