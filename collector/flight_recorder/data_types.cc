#include "collector/flight_recorder/data_types.h"

namespace oom_forensics::collector {
namespace {

// tensorflow/core/framework/types.proto, by number.
constexpr const char* kNames[] = {
    "",
    "float32",
    "float64",
    "int32",
    "uint8",
    "int16",
    "int8",
    "string",
    "complex64",
    "int64",
    "bool",
    "qint8",
    "quint8",
    "qint32",
    "bfloat16",
    "qint16",
    "quint16",
    "uint16",
    "complex128",
    "float16",
    "resource",
    "variant",
    "uint32",
    "uint64",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "float4_e2m1fn",
};
constexpr int32_t kCount = sizeof(kNames) / sizeof(kNames[0]);

}  // namespace

std::string DataTypeName(int32_t dtype) {
  if (dtype >= 0 && dtype < kCount) return kNames[dtype];
  return "dtype_" + std::to_string(dtype);
}

}  // namespace oom_forensics::collector
