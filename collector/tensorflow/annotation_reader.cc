#include "collector/tensorflow/annotation_reader.h"

#include <cstddef>
#include <utility>

namespace oom_forensics::collector {
namespace {

// TensorFlow up to 2.18 or so.
struct CStringAnnotation {
  const char* op;
  int64_t step_id;
  const char* region_type;
  int32_t dtype;
  std::function<std::string()> shape;
};

// Later ones.
struct StringViewAnnotation {
  std::string_view op;
  int64_t step_id;
  std::string_view region_type;
  int32_t dtype;
  std::function<std::string()> shape;
};

#define OOM_FORENSICS_SCOPED "_ZN3tsl8profiler27ScopedMemoryDebugAnnotation"
#define OOM_FORENSICS_SHAPE_FUNCTION \
  "OSt8functionIFNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEvEE"
constexpr char kThreadAnnotation[] =
    OOM_FORENSICS_SCOPED "27ThreadMemoryDebugAnnotationEv";
constexpr char kDestructor[] = OOM_FORENSICS_SCOPED "D2Ev";
// (op, step id, region type, dtype, shape function&&)
constexpr char kCStringConstructor[] =
    OOM_FORENSICS_SCOPED "C2EPKclS3_i" OOM_FORENSICS_SHAPE_FUNCTION;
constexpr char kStringViewConstructor[] = OOM_FORENSICS_SCOPED
    "C2ESt17basic_string_viewIcSt11char_traitsIcEElS5_i"
    "OSt8functionIFNSt7__cxx1112basic_stringIcS4_SaIcEEEvEE";
#undef OOM_FORENSICS_SCOPED
#undef OOM_FORENSICS_SHAPE_FUNCTION

using CStringConstructor = void (*)(void* self, const char* op, int64_t step_id,
                                    const char* region_type, int32_t dtype,
                                    std::function<std::string()>&& shape);
using StringViewConstructor = void (*)(void* self, std::string_view op,
                                       int64_t step_id,
                                       std::string_view region_type,
                                       int32_t dtype,
                                       std::function<std::string()>&& shape);
using Destructor = void (*)(void* self);

// What is written to prove a layout.
constexpr char kProbeOp[] = "oom_forensics/probe";
constexpr char kProbeRegionType[] = "probe";
constexpr int64_t kProbeStepId = 0x123456789abcdef;
constexpr int32_t kProbeDtype = 0x2468ace;
constexpr char kProbeShape[] = "[8,16]";

const char* Pointer(const char* text) { return text; }
const char* Pointer(std::string_view text) { return text.data(); }

// Whether `record` holds the probe. Compares before it follows anything, so
// that a layout that is not this one cannot lead to a wild read.
template <typename Record>
bool HoldsProbe(const Record& record) {
  return Pointer(record.op) == kProbeOp && record.step_id == kProbeStepId &&
         Pointer(record.region_type) == kProbeRegionType &&
         record.dtype == kProbeDtype &&
         record.op == std::string_view(kProbeOp) &&
         record.region_type == std::string_view(kProbeRegionType) &&
         record.shape && record.shape() == kProbeShape;
}

std::string_view OrEmpty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

std::optional<AnnotationReader> AnnotationReader::Find(
    const TensorFlowLibrary& library, std::string* why) {
  const auto thread_annotation =
      library.FunctionOf<ThreadAnnotation>(kThreadAnnotation);
  const auto destructor = library.FunctionOf<Destructor>(kDestructor);
  const auto c_string =
      library.FunctionOf<CStringConstructor>(kCStringConstructor);
  const auto string_view =
      library.FunctionOf<StringViewConstructor>(kStringViewConstructor);
  if (thread_annotation == nullptr || destructor == nullptr) {
    *why = "TensorFlow does not export its memory annotations";
    return std::nullopt;
  }
  if ((c_string == nullptr) == (string_view == nullptr)) {
    *why = "this TensorFlow's memory annotations have an unknown layout";
    return std::nullopt;
  }
  // The proof. The object keeps the annotation that was there before, so it is
  // about as large as one; there is room for four.
  alignas(
      std::max_align_t) unsigned char scope[4 * sizeof(StringViewAnnotation)];
  std::function<std::string()> shape = [] { return std::string(kProbeShape); };
  bool equal;
  if (c_string != nullptr) {
    c_string(scope, kProbeOp, kProbeStepId, kProbeRegionType, kProbeDtype,
             std::move(shape));
    equal =
        HoldsProbe(*static_cast<const CStringAnnotation*>(thread_annotation()));
  } else {
    string_view(scope, kProbeOp, kProbeStepId, kProbeRegionType, kProbeDtype,
                std::move(shape));
    equal = HoldsProbe(
        *static_cast<const StringViewAnnotation*>(thread_annotation()));
  }
  destructor(scope);
  if (!equal) {
    *why = "this TensorFlow's memory annotations do not read back as written";
    return std::nullopt;
  }
  return AnnotationReader(thread_annotation, c_string != nullptr
                                                 ? Layout::kCString
                                                 : Layout::kStringView);
}

Annotation AnnotationReader::Read() const noexcept {
  const void* record = thread_annotation_();
  if (layout_ == Layout::kCString) {
    const auto& annotation = *static_cast<const CStringAnnotation*>(record);
    return {OrEmpty(annotation.op), OrEmpty(annotation.region_type),
            annotation.step_id, annotation.dtype, &annotation.shape};
  }
  const auto& annotation = *static_cast<const StringViewAnnotation*>(record);
  return {annotation.op, annotation.region_type, annotation.step_id,
          annotation.dtype, &annotation.shape};
}

}  // namespace oom_forensics::collector
