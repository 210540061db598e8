// libcuda: streams, events, modules, graphs. Everything is done at once and
// kernels do nothing.
#include <cuda.h>

#include "tests/gpu/standin/device.h"

namespace {

template <typename Handle>
CUresult Make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(standin_gpu::NewHandle());
  return CUDA_SUCCESS;
}

// Every constant of every module: nobody reads what a kernel would.
constexpr size_t kGlobalBytes = size_t{64} << 20;

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int) { return Make(stream); }

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int, int) {
  return Make(stream);
}

CUresult cuStreamGetPriority(CUstream, int* priority) {
  *priority = 0;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
                             void* data, unsigned int) {
  callback(stream, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream, CUhostFn function, void* data) {
  function(data);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream, CUgraph* graph) { return Make(graph); }

CUresult cuEventCreate(CUevent* event, unsigned int) { return Make(event); }

CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  *milliseconds = 0.01f;
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent, CUevent) {
  *milliseconds = 0.01f;
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return Make(module);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned int,
                            CUjit_option*, void**) {
  return Make(module);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void*) {
  return Make(module);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  return Make(function);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule,
                              const char*) {
  static void* const zeros = standin_gpu::AllocateHost(kGlobalBytes);
  if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(zeros);
  if (bytes != nullptr) *bytes = kGlobalBytes;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void*, CUjit_option*,
                           void**, unsigned int, CUlibraryOption*, void**,
                           unsigned int) {
  return Make(library);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char*) {
  return Make(kernel);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel) {
  return Make(function);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                            CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
           : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                                : 0;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction,
                                                     int, size_t) {
  *blocks = 1;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int size, size_t bytes, unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size,
                                                     bytes);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction,
                                          CUoccupancyB2DSize, size_t, int) {
  *grid = 108;
  *block = 256;
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph* graph, unsigned int) { return Make(graph); }

// XLA takes what a library captured for an error where it has no node.
CUresult cuGraphGetRootNodes(CUgraph, CUgraphNode* nodes, size_t* count) {
  *count = 1;
  return nodes == nullptr ? CUDA_SUCCESS : Make(nodes);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph,
                                     unsigned long long) {
  return Make(exec);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph, const CUgraphNode*,
                                 size_t, const CUDA_KERNEL_NODE_PARAMS*) {
  return Make(node);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph, const CUgraphNode*,
                              size_t, const CUDA_MEMCPY3D*, CUcontext) {
  return Make(node);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph, const CUgraphNode*,
                              size_t, const CUDA_MEMSET_NODE_PARAMS*,
                              CUcontext) {
  return Make(node);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph,
                                  const CUgraphNode*, size_t, CUgraph) {
  return Make(node);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph, const CUgraphNode*,
                             size_t) {
  return Make(node);
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph, const CUgraphNode*, size_t,
                        CUgraphNodeParams* params) {
  if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    static CUgraph bodies[2];
    for (CUgraph& body : bodies) Make(&body);
    params->conditional.phGraph_out = bodies;
  }
  return Make(node);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle,
                                        CUgraph, CUcontext, unsigned int,
                                        unsigned int) {
  *handle = 1;
  return CUDA_SUCCESS;
}

}  // extern "C"
