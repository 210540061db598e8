// How a process ended and where the memory of its host went, as text.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_HOST_MEMORY_TEXT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_HOST_MEMORY_TEXT_H_

#include <string>
#include <vector>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// The first lines of a report on a process that died without a word; empty
// where none did.
std::vector<std::string> DeathLines(const HostMemory& memory);

// What the opening leaves out; empty where nothing is known of any host's
// memory.
std::string RenderHostMemory(const HostMemory& memory);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_HOST_MEMORY_TEXT_H_
