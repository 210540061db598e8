#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr int32_t kReferenceTypesFrom = 100;

struct Dtype {
  const char* name;
  uint32_t bytes;
};

// By number. Types of less than a byte take one each in a tensor's buffer.
constexpr Dtype kDtypes[] = {
    {"", 0},
    {"float32", 4},
    {"float64", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"float16", 2},
    {"resource", 0},
    {"variant", 0},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
    {"float4_e2m1fn", 1},
};
constexpr int32_t kCount = sizeof(kDtypes) / sizeof(kDtypes[0]);

// Null where the number is not known.
const Dtype* Find(int32_t dtype) {
  if (dtype > kReferenceTypesFrom) dtype -= kReferenceTypesFrom;
  return dtype >= 0 && dtype < kCount ? &kDtypes[dtype] : nullptr;
}

}  // namespace

std::string DtypeName(int32_t dtype) {
  const Dtype* known = Find(dtype);
  return known != nullptr ? known->name : "dtype_" + std::to_string(dtype);
}

int32_t DtypeOf(std::string_view name) {
  for (int32_t dtype = 1; dtype < kCount; ++dtype) {
    if (name == kDtypes[dtype].name) return dtype;
  }
  return 0;
}

uint32_t DtypeBytes(int32_t dtype) {
  const Dtype* known = Find(dtype);
  return known != nullptr ? known->bytes : 0;
}

}  // namespace oom_forensics
