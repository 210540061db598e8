// libcudnn. Its headers are in a wheel of 600 MB, so the little that is needed
// of them is declared here: every handle is a pointer, every enum an int.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
// CUDNN_STATUS_NOT_INITIALIZED, in cuDNN 8 and in cuDNN 9.
constexpr int kNotInitialized8 = 1;
constexpr int kNotInitialized9 = 1001;
constexpr size_t kWorkspaceBytes = 1 << 20;
constexpr int64_t kWorkspace = kWorkspaceBytes;

// cudnnBackendAttributeName_t
constexpr int kHeuristicResults = 202;
constexpr int kEngineOfConfig = 300;
constexpr int kPlanWorkspace = 402;
constexpr int kEngineCount = 802;

int Version() {
  const char* const version = std::getenv("STANDIN_GPU_CUDNN");
  return version == nullptr ? 90300 : std::atoi(version);
}

int NewDescriptor(void** descriptor) {
  *descriptor = standin_gpu::NewHandle();
  return kSuccess;
}

// What was set of a backend descriptor.
struct Descriptor {
  struct Value {
    int64_t count;
    std::vector<char> bytes;
  };
  std::map<int, Value> values;
};

// cudnnBackendAttributeType_t
size_t SizeOfType(int type) {
  switch (type) {
    case 0:   // handle
    case 3:   // int64
    case 5:   // double
    case 6:   // pointer
    case 15:  // backend descriptor
    case 26:  // fraction
      return 8;
    case 2:   // bool
    case 24:  // char
      return 1;
    default:
      return 4;
  }
}

struct Rnn {
  int cell;
  int directions;
  int input;
  int hidden;
  int layers;

  // Gates of ReLU, tanh, LSTM, GRU.
  size_t gates() const {
    constexpr int kGates[] = {1, 1, 4, 3};
    return static_cast<size_t>(kGates[std::clamp(cell, 0, 3)]);
  }
  size_t units() const {
    return static_cast<size_t>(hidden) * static_cast<size_t>(layers) *
           static_cast<size_t>(directions);
  }
};

struct RnnData {
  int steps;
  int batch;
};

// cudnnConvolutionFwdAlgoPerf_t and its two likes.
struct Performance {
  int algorithm;
  int status;
  float milliseconds;
  size_t bytes;
  int determinism;
  int math;
  int reserved[3];
};

int OneAlgorithm(int algorithm, int requested, int* returned,
                 Performance* results) {
  *returned = std::min(requested, 1);
  if (*returned > 0) {
    results[0] = {algorithm, kSuccess, 0.1f, kWorkspaceBytes, 0, 0, {}};
  }
  return kSuccess;
}

}  // namespace

#define DESCRIPTOR(name) \
  int name(void** descriptor) { return NewDescriptor(descriptor); }
#define CONVOLUTION_WORKSPACE(name)                                 \
  int name(void*, void*, void*, void*, void*, int, size_t* bytes) { \
    *bytes = kWorkspaceBytes;                                       \
    return kSuccess;                                                \
  }
#define CONVOLUTION_ALGORITHM(name, algorithm)                              \
  int name(void*, void*, void*, void*, void*, int requested, int* returned, \
           Performance* results) {                                          \
    return OneAlgorithm(algorithm, requested, returned, results);           \
  }

extern "C" {

int cudnnCreate(void** handle) {
  if (standin_gpu::MakeHandle("cudnn", handle)) return kSuccess;
  return Version() >= 90000 ? kNotInitialized9 : kNotInitialized8;
}

int cudnnDestroy(void* handle) {
  standin_gpu::EndHandle("cudnn", handle);
  return kSuccess;
}

size_t cudnnGetVersion() { return static_cast<size_t>(Version()); }
size_t cudnnGetCudartVersion() { return 12050; }

int cudnnGetProperty(int type, int* value) {
  const int version = Version();
  const int major = version >= 90000 ? version / 10000 : version / 1000;
  const int minor = version >= 90000 ? version / 100 % 100 : version / 100 % 10;
  *value = type == 0 ? major : type == 1 ? minor : version % 100;
  return kSuccess;
}

const char* cudnnGetErrorString(int status) {
  return status == kSuccess ? "CUDNN_STATUS_SUCCESS"
         : status == kNotInitialized8 || status == kNotInitialized9
             ? "CUDNN_STATUS_NOT_INITIALIZED"
             : "CUDNN_STATUS_INTERNAL_ERROR";
}

DESCRIPTOR(cudnnCreateTensorDescriptor)
DESCRIPTOR(cudnnCreateFilterDescriptor)
DESCRIPTOR(cudnnCreateConvolutionDescriptor)
DESCRIPTOR(cudnnCreateActivationDescriptor)
DESCRIPTOR(cudnnCreatePoolingDescriptor)
DESCRIPTOR(cudnnCreateLRNDescriptor)
DESCRIPTOR(cudnnCreateDropoutDescriptor)
DESCRIPTOR(cudnnCreateRNNDescriptor)
DESCRIPTOR(cudnnCreateRNNDataDescriptor)
DESCRIPTOR(cudnnCreateCTCLossDescriptor)
DESCRIPTOR(cudnnCreateReduceTensorDescriptor)
DESCRIPTOR(cudnnCreateOpTensorDescriptor)

CONVOLUTION_WORKSPACE(cudnnGetConvolutionForwardWorkspaceSize)
CONVOLUTION_WORKSPACE(cudnnGetConvolutionBackwardDataWorkspaceSize)
CONVOLUTION_WORKSPACE(cudnnGetConvolutionBackwardFilterWorkspaceSize)
CONVOLUTION_ALGORITHM(cudnnGetConvolutionForwardAlgorithm_v7, 1)
CONVOLUTION_ALGORITHM(cudnnGetConvolutionBackwardDataAlgorithm_v7, 1)
CONVOLUTION_ALGORITHM(cudnnGetConvolutionBackwardFilterAlgorithm_v7, 1)

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    void*, int, int, void*, void*, void*, void*, void*, size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*,
                                                      void*, void*, void*,
                                                      void*, void*, void*,
                                                      size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*,
                                                         void*, size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int cudnnDropoutGetStatesSize(void*, size_t* bytes) {
  *bytes = 1 << 20;
  return kSuccess;
}

int cudnnSetRNNDescriptor_v8(void* descriptor, int, int cell, int,
                             int directions, int, int, int, int, int input,
                             int hidden, int, int layers, void*, unsigned) {
  *static_cast<Rnn*>(descriptor) = {cell, directions + 1, input, hidden,
                                    layers};
  return kSuccess;
}

int cudnnSetRNNDataDescriptor(void* descriptor, int, int, int steps, int batch,
                              int, const int*, void*) {
  *static_cast<RnnData*>(descriptor) = {steps, batch};
  return kSuccess;
}

int cudnnGetRNNWeightSpaceSize(void*, void* descriptor, size_t* bytes) {
  const Rnn& rnn = *static_cast<Rnn*>(descriptor);
  *bytes = rnn.gates() * rnn.units() *
           static_cast<size_t>(rnn.input + rnn.hidden + 2) * sizeof(float);
  return kSuccess;
}

int cudnnGetRNNTempSpaceSizes(void*, void* descriptor, int, void* data,
                              size_t* workspace_bytes, size_t* reserve_bytes) {
  const Rnn& rnn = *static_cast<Rnn*>(descriptor);
  const RnnData& sequences = *static_cast<RnnData*>(data);
  const size_t rows = static_cast<size_t>(sequences.steps) *
                      static_cast<size_t>(sequences.batch);
  if (workspace_bytes != nullptr) {
    *workspace_bytes = rows * rnn.gates() * rnn.units() * sizeof(float);
  }
  if (reserve_bytes != nullptr) {
    *reserve_bytes = rows * (rnn.gates() + 2) * rnn.units() * sizeof(float);
  }
  return kSuccess;
}

int cudnnGetRNNWeightParams(void*, void*, int, size_t, const void* weights, int,
                            void*, void** matrix, void*, void** bias) {
  *matrix = const_cast<void*>(weights);
  *bias = const_cast<void*>(weights);
  return kSuccess;
}

int cudnnBackendCreateDescriptor(int, void** descriptor) {
  *descriptor = new Descriptor;
  return kSuccess;
}

int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return kSuccess;
}

int cudnnBackendSetAttribute(void* descriptor, int name, int type,
                             int64_t count, const void* values) {
  const auto* const bytes = static_cast<const char*>(values);
  static_cast<Descriptor*>(descriptor)->values[name] = {
      count, {bytes, bytes + static_cast<size_t>(count) * SizeOfType(type)}};
  return kSuccess;
}

int cudnnBackendGetAttribute(void* descriptor, int name, int type,
                             int64_t requested, int64_t* count, void* values) {
  const auto answer = [count](int64_t number) {
    if (count != nullptr) *count = number;
    return kSuccess;
  };
  // The caller made the descriptors that these two fill.
  if (name == kHeuristicResults || name == kEngineOfConfig) return answer(1);
  if (name == kEngineCount || name == kPlanWorkspace) {
    const int64_t value = name == kEngineCount ? 1 : kWorkspace;
    if (values != nullptr) std::memcpy(values, &value, sizeof(value));
    return answer(1);
  }
  const auto& known = static_cast<Descriptor*>(descriptor)->values;
  const auto found = known.find(name);
  if (found == known.end()) return answer(0);
  if (values != nullptr) {
    const size_t bytes =
        static_cast<size_t>(std::max<int64_t>(requested, 0)) * SizeOfType(type);
    std::memcpy(values, found->second.bytes.data(),
                std::min(bytes, found->second.bytes.size()));
  }
  return answer(found->second.count);
}

}  // extern "C"
