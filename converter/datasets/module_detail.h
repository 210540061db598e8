// The memory of one compiled module: its allocations, and of one of them the
// buffers, over the program and at one point of it.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_MODULE_DETAIL_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_MODULE_DETAIL_H_

#include "converter/hlo/compiled_module.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// All of it but `module`. The query says which allocation, which point, and how
// many columns.
CompiledModuleDetail MakeModuleDetail(const CompiledModule& module,
                                      const Query& query);

// The largest temporary allocation; where there is none the largest one that a
// run asks for; null: there is no allocation at all.
const CompiledAllocation* MainAllocation(const CompiledModule& module);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_MODULE_DETAIL_H_
