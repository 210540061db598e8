// AnnotationReader: who asks for the memory in hand. TensorFlow keeps, for each
// thread, the op, step, dtype and shape that it is about to allocate for
// (tsl/profiler/lib/scoped_memory_debug_annotation.h); this reads them.
//
// The layout of that record differs by version and a wrong guess reads wild
// pointers, so it is proved before it is used: Find() lets TensorFlow's own
// exported constructor write a known annotation and accepts a layout only if
// every field reads back as written.
//
// An annotation is a hint: names without an op ("MakeIterator") stay on their
// thread after the work is done.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_ANNOTATION_READER_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_ANNOTATION_READER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "collector/library/tensorflow_library.h"

namespace oom_forensics::collector {

// Views into TensorFlow's record: valid until the thread goes back to
// TensorFlow.
struct Annotation {
  std::string_view op;
  std::string_view region_type;
  int64_t step_id = 0;
  int32_t dtype = 0;
  // Writes the shape ("[8,16]"); never null, may be empty.
  const std::function<std::string()>* shape = nullptr;
};

class AnnotationReader {
 public:
  // The two layouts that TensorFlow has had.
  enum class Layout { kCString, kStringView };

  // None if TensorFlow exports no layout that is known and proves right; `why`
  // is then a sentence.
  static std::optional<AnnotationReader> Find(const TensorFlowLibrary& library,
                                              std::string* why);

  // The annotation of the calling thread.
  Annotation Read() const noexcept;

  Layout layout() const { return layout_; }

 private:
  using ThreadAnnotation = const void* (*)();

  AnnotationReader(ThreadAnnotation thread_annotation, Layout layout)
      : thread_annotation_(thread_annotation), layout_(layout) {}

  ThreadAnnotation thread_annotation_;
  Layout layout_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_ANNOTATION_READER_H_
