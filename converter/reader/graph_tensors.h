// Kernels that were made by MLIR (Cast, AddV2, Relu on a GPU) tell TensorFlow
// neither the shape nor the type of what they ask for. The graph of their step
// does, as its forecast has it.
#ifndef OOM_FORENSICS_CONVERTER_READER_GRAPH_TENSORS_H_
#define OOM_FORENSICS_CONVERTER_READER_GRAPH_TENSORS_H_

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// Gives shape and type to sites of GPUs' pools that lack both, where the
// forecasts of the trace know exactly one of an op of that name that asks for
// as many bytes.
void NameGraphTensors(HostTrace* trace);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_GRAPH_TENSORS_H_
