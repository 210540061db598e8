// The address map of a moment as a few lines of text:
//
//     1 character is 1.00 MiB: █ in use, ▓▒░ partly, · free
//     128 MiB  █▓·······██████····························
//              ····································██████··
//      64 MiB  ··········································██
//     request  ██████████████████████▌
//
// Each character stands for the same number of bytes; a region begins a new
// line. The largest hole is colored, where there are colors.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_LAYOUT_PICTURE_H_
#define OOM_FORENSICS_CONVERTER_RENDER_LAYOUT_PICTURE_H_

#include <cstdint>
#include <string>

#include "converter/render/terminal_style.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Empty where the map has no regions. `request_bytes`: drawn to scale below the
// map; 0: none.
std::string DrawLayout(const AddressMap& map, uint64_t request_bytes,
                       const TerminalStyle& style);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_LAYOUT_PICTURE_H_
