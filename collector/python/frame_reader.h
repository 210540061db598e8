// FrameReader: the frames of a thread, read out of Python's memory without
// Python's lock.
//
// Why that works: a thread that allocates sits inside a call of TensorFlow's.
// It may have released the lock, but its own chain of frames stands still until
// the call returns, and a frame that is being run owns its code.
//
// The way to read is a parameter, so that the very code that later runs in the
// hook (DirectMemory) is first tried where nothing is known to be right
// (CheckedMemory).
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_READER_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_READER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/python/frame_layout.h"
#include "collector/python/line_table.h"
#include "collector/python/memory_access.h"
#include "collector/python/stack_cache.h"
#include "collector/python/text.h"

namespace oom_forensics::collector::python {

struct RawFrame {
  uint64_t code = 0;
  // Offset in bytes from the code's first instruction.
  int32_t instruction = 0;
};

// The innermost frames of a thread.
struct RawStack {
  static constexpr size_t kMaxDepth = 256;
  RawFrame frames[kMaxDepth];
  size_t depth = 0;
  StackKey key;
};

// What a frame is of, in words.
struct FrameText {
  std::string file;
  std::string function;
  int line = 0;
};

template <typename Memory>
class FrameReader {
 public:
  explicit FrameReader(const FrameLayout& layout) : layout_(layout) {}

  // The frames of the thread whose PyThreadState this is. False: memory that
  // should be there is not.
  bool Walk(const void* thread_state, RawStack* stack) const {
    uint64_t frame;
    if (!TopFrame(reinterpret_cast<uint64_t>(thread_state), &frame)) {
      return false;
    }
    stack->depth = 0;
    uint64_t a = 0x243f6a8885a308d3u;
    uint64_t b = 0x13198a2e03707344u;
    // Frames without code are few; the count keeps a ring from being endless.
    for (size_t steps = 0; frame != 0 && stack->depth < RawStack::kMaxDepth &&
                           steps < 2 * RawStack::kMaxDepth;
         ++steps) {
      bool has_code = true;
      if (layout_.has_owner) {
        uint8_t owner;
        if (!ReadValue(memory_, frame + layout_.frame_owner, &owner)) {
          return false;
        }
        has_code = owner != kOwnedByInterpreter;
      }
      if (has_code) {
        RawFrame& raw = stack->frames[stack->depth];
        uint32_t version = 0;
        if (!ReadFrame(frame, &raw) ||
            (layout_.code_version != 0 &&
             !ReadValue(memory_, raw.code + layout_.code_version, &version))) {
          return false;
        }
        ++stack->depth;
        const uint64_t place =
            uint64_t{version} << 32 | static_cast<uint32_t>(raw.instruction);
        a = Mix(a ^ raw.code, place ^ 0xa4093822299f31d0u);
        b = Mix(b ^ place, raw.code ^ 0x082efa98ec4e6c89u);
      }
      if (!ReadValue(memory_, frame + layout_.frame_previous, &frame)) {
        return false;
      }
    }
    stack->key = {a, b};
    return true;
  }

  // Where the frame is, in words; a line of 0: its instruction has none. May
  // throw bad_alloc.
  bool Describe(const RawFrame& frame, FrameText* text) const {
    std::string table;
    int32_t first_line;
    if (!ReadText(frame.code + layout_.code_file, &text->file) ||
        !ReadText(frame.code + layout_.code_name, &text->function) ||
        !ReadBytes(frame.code + layout_.code_line_table, kMaxTableBytes,
                   &table) ||
        !ReadValue(memory_, frame.code + layout_.code_first_line,
                   &first_line)) {
      return false;
    }
    text->line = LineOfInstruction(layout_.line_table, table, first_line,
                                   frame.instruction);
    return true;
  }

  // Tells a code object from another that lay at the same address before, as
  // far as one can be told from it: of its line table, its name and the end of
  // its file's name.
  uint32_t Checksum(const RawFrame& frame) const {
    constexpr uint64_t kMostOfTable = 256;
    constexpr uint64_t kMostOfFile = 32;
    constexpr uint64_t kMostOfName = 32;
    uint64_t table, size, file, length, name, name_length;
    int32_t first_line;
    if (!ReadValue(memory_, frame.code + layout_.code_line_table, &table) ||
        !ReadValue(memory_, table + kBytesSize, &size) ||
        !ReadValue(memory_, frame.code + layout_.code_first_line,
                   &first_line) ||
        !ReadValue(memory_, frame.code + layout_.code_file, &file) ||
        !ReadValue(memory_, file + kTextLength, &length) ||
        !ReadValue(memory_, frame.code + layout_.code_name, &name) ||
        !ReadValue(memory_, name + kTextLength, &name_length)) {
      return 0;
    }
    Sums sums = {size, static_cast<uint32_t>(first_line), length, name_length};
    // A character has at least one byte.
    const uint64_t of_file = std::min(length, kMostOfFile);
    if (!AddUp(table + kBytesData, std::min(size, kMostOfTable), &sums) ||
        !AddUp(file + layout_.ascii_text + length - of_file, of_file, &sums) ||
        !AddUp(name + layout_.ascii_text, std::min(name_length, kMostOfName),
               &sums)) {
      return 0;
    }
    const uint64_t sum = Mix(sums[0] ^ sums[2], sums[1] ^ sums[3]);
    return static_cast<uint32_t>(sum ^ sum >> 32);
  }

 private:
  static constexpr size_t kMaxTableBytes = size_t{1} << 20;
  static constexpr size_t kMaxTextLength = 4096;
  // Layouts that have been the same since Python 3.3.
  static constexpr uint32_t kBytesSize = 16;
  static constexpr uint32_t kBytesData = 32;
  static constexpr uint32_t kTextLength = 16;
  static constexpr uint32_t kTextState = 32;

  // Four sums that do not wait for one another: they are made at every hit.
  using Sums = std::array<uint64_t, 4>;
  static_assert(sizeof(Sums) == 32);

  // Adds the bytes at `address` to the sums.
  bool AddUp(uint64_t address, uint64_t bytes, Sums* sums) const {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
    const auto add = [&](const Sums& words) {
      for (size_t i = 0; i < words.size(); ++i) {
        (*sums)[i] = ((*sums)[i] ^ words[i]) * kFactor;
      }
    };
    Sums words = {};
    if (bytes < sizeof(words)) {
      if (!memory_.Read(address, words.data(), bytes)) return false;
      add(words);
      return true;
    }
    // The last words may stand in two sums: a copy of a size that the compiler
    // does not know costs more.
    const uint64_t last = address + bytes - sizeof(words);
    for (; address < last; address += sizeof(words)) {
      if (!ReadValue(memory_, address, &words)) return false;
      add(words);
    }
    if (!ReadValue(memory_, last, &words)) return false;
    add(words);
    return true;
  }

  static uint64_t Mix(uint64_t a, uint64_t b) {
    const auto product =
        static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) *
        (b ^ 0xd6e8feb86659fd93u);
    return static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64);
  }

  bool TopFrame(uint64_t thread_state, uint64_t* frame) const {
    if (!ReadValue(memory_, thread_state + layout_.thread_frame, frame)) {
      return false;
    }
    return !layout_.has_cframe || *frame == 0 ||
           ReadValue(memory_, *frame + layout_.cframe_frame, frame);
  }

  bool ReadFrame(uint64_t frame, RawFrame* raw) const {
    if (!ReadValue(memory_, frame + layout_.frame_code, &raw->code)) {
      return false;
    }
    if (layout_.instruction_is_index) {
      int32_t index;
      if (!ReadValue(memory_, frame + layout_.frame_instruction, &index)) {
        return false;
      }
      raw->instruction = index * 2;
      return true;
    }
    uint64_t address;
    if (!ReadValue(memory_, frame + layout_.frame_instruction, &address)) {
      return false;
    }
    raw->instruction =
        static_cast<int32_t>(address - raw->code - layout_.code_instructions);
    return true;
  }

  // The bytes object that the pointer at `address` leads to.
  bool ReadBytes(uint64_t address, size_t max_bytes, std::string* bytes) const {
    uint64_t object, size;
    if (!ReadValue(memory_, address, &object) ||
        !ReadValue(memory_, object + kBytesSize, &size) || size > max_bytes) {
      return false;
    }
    bytes->resize(size);
    return memory_.Read(object + kBytesData, bytes->data(), size);
  }

  // The str that the pointer at `address` leads to, as UTF-8.
  bool ReadText(uint64_t address, std::string* text) const {
    uint64_t object, length;
    uint32_t bits;
    if (!ReadValue(memory_, address, &object) ||
        !ReadValue(memory_, object + kTextLength, &length) ||
        !ReadValue(memory_, object + kTextState, &bits)) {
      return false;
    }
    const TextState state(bits);
    if (length > kMaxTextLength || !state.IsReadable()) return false;
    std::string characters(length * state.bytes_per_character(), '\0');
    const uint32_t data =
        state.is_ascii() ? layout_.ascii_text : layout_.other_text;
    if (!memory_.Read(object + data, characters.data(), characters.size())) {
      return false;
    }
    *text = state.ToUtf8(characters);
    return true;
  }

  const FrameLayout layout_;
  Memory memory_;
};

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_READER_H_
