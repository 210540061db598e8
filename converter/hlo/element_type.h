// XLA's element types as TensorFlow numbers them.
#ifndef OOM_FORENSICS_CONVERTER_HLO_ELEMENT_TYPE_H_
#define OOM_FORENSICS_CONVERTER_HLO_ELEMENT_TYPE_H_

#include <cstdint>

namespace oom_forensics {

// The tensorflow.DataType of an xla.PrimitiveType; 0: there is none (tuples,
// tokens, types of parts of a byte that TensorFlow has not).
inline int32_t TensorFlowDtype(int64_t primitive_type) {
  // xla/xla_data.proto, tensorflow/core/framework/types.proto.
  constexpr int32_t kDtypes[] = {
      0,   // invalid
      10,  // PRED: bool
      6,   // S8
      5,   // S16
      3,   // S32
      9,   // S64
      4,   // U8
      17,  // U16
      22,  // U32
      23,  // U64
      19,  // F16: half
      1,   // F32
      2,   // F64
      0,   // tuple
      0,   // opaque
      8,   // C64
      14,  // BF16
      0,   // token
      18,  // C128
      24,  // F8E5M2
      25,  // F8E4M3FN
      29,  // S4
      30,  // U4
  };
  constexpr int64_t kCount = sizeof(kDtypes) / sizeof(kDtypes[0]);
  return primitive_type >= 0 && primitive_type < kCount
             ? kDtypes[primitive_type]
             : 0;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_ELEMENT_TYPE_H_
