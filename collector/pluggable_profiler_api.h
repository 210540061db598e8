// The part of TensorFlow's profiler plugin C API that the collector implements,
// declared again here (tensorflow/c/experimental/pluggable_profiler/
// pluggable_profiler.h) so that the collector builds without TensorFlow. Every
// struct begins with its size: what a smaller one lacks is not touched.
#ifndef OOM_FORENSICS_COLLECTOR_PLUGGABLE_PROFILER_API_H_
#define OOM_FORENSICS_COLLECTOR_PLUGGABLE_PROFILER_API_H_

#include <cstddef>
#include <cstdint>

// Of TensorFlow's profiler C API; another number: another layout.
inline constexpr int32_t TP_MAJOR = 0;

extern "C" {

struct TF_Status;

struct TP_Profiler {
  size_t struct_size;
  void* ext;
  const char* device_type;
};

struct TP_ProfilerFns {
  size_t struct_size;
  void* ext;
  void (*start)(const TP_Profiler* profiler, TF_Status* status);
  void (*stop)(const TP_Profiler* profiler, TF_Status* status);
  // With a null buffer: the size; else: the data, once per session.
  void (*collect_data_xspace)(const TP_Profiler* profiler, uint8_t* buffer,
                              size_t* size_in_bytes, TF_Status* status);
};

struct TF_ProfilerRegistrationParams {
  size_t struct_size;
  void* ext;
  int32_t major_version;
  int32_t minor_version;
  int32_t patch_version;
  TP_Profiler* profiler;
  TP_ProfilerFns* profiler_fns;
  void (*destroy_profiler)(TP_Profiler* profiler);
  void (*destroy_profiler_fns)(TP_ProfilerFns* profiler_fns);
};

// What TensorFlow calls when it has loaded the plugin.
void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status);

}  // extern "C"

#endif  // OOM_FORENSICS_COLLECTOR_PLUGGABLE_PROFILER_API_H_
