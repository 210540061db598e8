// The line of an instruction, as a code object's line table tells it.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_LINE_TABLE_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_LINE_TABLE_H_

#include <cstdint>
#include <string_view>

#include "collector/python/frame_layout.h"

namespace oom_forensics::collector::python {

// `instruction` is the offset in bytes from the first one; below 0: none was
// executed yet. Returns 0 where the instruction has no line.
int LineOfInstruction(LineTableFormat format, std::string_view table,
                      int first_line, int instruction);

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_LINE_TABLE_H_
