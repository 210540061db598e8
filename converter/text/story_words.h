// Words that every telling of a story shares: ops, tensors and lines.
#ifndef OOM_FORENSICS_CONVERTER_TEXT_STORY_WORDS_H_
#define OOM_FORENSICS_CONVERTER_TEXT_STORY_WORDS_H_

#include <string>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// Control characters could drive a terminal, and names come from the trace:
// each becomes a question mark.
std::string Printable(std::string text);

// The op's name, or words for what no op allocated.
std::string OpOrUnknown(const std::string& op);

// "float32[256,64]"; empty where the shape is not recorded.
std::string TensorText(const Allocation& allocation);
std::string TensorText(const Request& request);

// "train.py:41 in augment", or "train.py:41 (Conv2D conv2d_1)" where `object`
// was made at the line; empty where the line is not recorded.
std::string LineText(const SourceFrame& frame, const std::string& object);

// LineText, and the source text of the line.
std::string LineAndSource(const SourceFrame& frame, const std::string& object);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TEXT_STORY_WORDS_H_
