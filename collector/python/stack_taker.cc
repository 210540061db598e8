#include "collector/python/stack_taker.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace oom_forensics::collector::python {
namespace {

// In the cache: this stack is known not to fit into the table.
constexpr StackId kDoesNotFit = UINT32_MAX;

// With fewer frames than these a chance agreement could pass for a proof.
constexpr size_t kFramesOfProof = 3;
constexpr size_t kMaxFramesBetween = 8;

// As many frames as CachedStack::checked_frames has bits.
constexpr size_t kMaxCheckedDepth = 64;

// Empty: the frames that were read are those that Python describes.
std::string Compare(const FrameReader<CheckedMemory>& reader,
                    const void* thread_state, const KnownFrame* frames,
                    size_t count) {
  RawStack stack;
  if (!reader.Walk(thread_state, &stack)) {
    return "its frames cannot be read where they were expected";
  }
  // First come the frames of who hands the description on.
  size_t between = 0;
  while (count > 0 && between < std::min(stack.depth, kMaxFramesBetween) &&
         stack.frames[between].code != frames[0].code) {
    ++between;
  }
  size_t compared = 0;
  for (size_t i = between; i < stack.depth; ++i) {
    const RawFrame& raw = stack.frames[i];
    FrameText text;
    if (!reader.Describe(raw, &text)) {
      return "a frame is read that is none";
    }
    if (compared == count) {
      if (text.line == 0) continue;
      return "more frames are read than there are";
    }
    const KnownFrame& known = frames[compared];
    // Python has frames of its own between, which it does not show.
    if (raw.code != known.code && text.line == 0) continue;
    ++compared;
    if (raw.code != known.code || text.file != known.file ||
        text.function != known.function) {
      return "a frame that is read is not the one that there is";
    }
    if (known.instruction >= 0 &&
        (raw.instruction != known.instruction || text.line != known.line)) {
      return "a line that is read is not the one that is run";
    }
  }
  if (compared < kFramesOfProof ||
      (compared < count && stack.depth < RawStack::kMaxDepth)) {
    return "not as many frames are read as there are";
  }
  return "";
}

}  // namespace

StackTaker::StackTaker(StackTable* table) : table_(table) {
  SetOrigin(FrameOrigin({}, {}));
  SayWhyOff("Python has not begun it");
}

std::string StackTaker::Start(uint32_t hexversion, const void* runtime,
                              const void* thread_state,
                              const KnownFrame* frames, size_t count) {
  std::string why;
  const std::optional<FrameLayout> layout = LayoutOf(hexversion, runtime, &why);
  if (layout.has_value()) {
    if (thread_state == nullptr) {
      why = "Python does not know this thread";
    } else {
      why = Compare(FrameReader<CheckedMemory>(*layout), thread_state, frames,
                    count);
    }
  }
  if (!why.empty()) {
    Stop(why);
    return why;
  }
  keys_have_version_ = layout->code_version != 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    proved_ = &readers_.emplace_back(*layout);
  }
  SetEnabled(enabled_);
  return "";
}

void StackTaker::Stop(const std::string& why) {
  // First of all, as there may be no memory for the reason.
  reader_ = nullptr;
  proved_ = nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  SayWhyOff(why);
}

void StackTaker::SayWhyOff(const std::string& why) {
  why_off_ = &reasons_.emplace_back(why);
}

void StackTaker::SetEnabled(bool enabled) {
  enabled_ = enabled;
  reader_ = enabled ? proved_.load() : nullptr;
}

std::string StackTaker::State() const {
  if (!enabled_) return "off: switched off";
  return proved_ != nullptr ? "on" : "off: " + *why_off_.load();
}

void StackTaker::SetOrigin(FrameOrigin origin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  origin_ = &origins_.emplace_back(std::move(origin));
}

StackId StackTaker::Take(const void* thread_state) noexcept {
  const Reader* const reader = reader_.load(std::memory_order_acquire);
  if (reader == nullptr) return 0;
  RawStack stack;
  if (!reader->Walk(thread_state, &stack) || stack.depth == 0) return 0;
  CachedStack known;
  if (!cache_.Find(stack.key, &known) ||
      (!keys_have_version_.load(std::memory_order_relaxed) &&
       ChecksumOf(*reader, stack, known.checked_frames) != known.checksum)) {
    try {
      known = Resolve(*reader, stack);
    } catch (...) {  // bad_alloc: the allocation goes without a stack
      known.stack = 0;
    }
  }
  if (known.stack == 0 || known.stack == kDoesNotFit) {
    table_->CountDropped();
    return 0;
  }
  return known.stack;
}

uint32_t StackTaker::ChecksumOf(const Reader& reader, const RawStack& stack,
                                uint64_t frames) const {
  uint32_t sum = 0;
  for (size_t i = 0; i < std::min(stack.depth, kMaxCheckedDepth); ++i) {
    if ((frames >> i & 1) == 0) continue;
    sum = sum * 0x9e3779b1u + reader.Checksum(stack.frames[i]);
  }
  return sum;
}

CachedStack StackTaker::Resolve(const Reader& reader, const RawStack& stack) {
  const FrameOrigin& origin = *origin_.load();
  std::vector<FrameText> texts;
  texts.reserve(stack.depth);
  StackFrames frames;
  CachedStack resolved;
  size_t user_frames = 0;
  size_t library_frames = 0;
  for (size_t i = 0; i < stack.depth; ++i) {
    FrameText& text = texts.emplace_back();
    // Without a line: one of Python's own, which it does not show either.
    if (!reader.Describe(stack.frames[i], &text) || text.line == 0) continue;
    const bool is_library = origin.IsLibrary(text.file);
    size_t& kept = is_library ? library_frames : user_frames;
    if (kept == (is_library ? kMaxLibraryFrames : kMaxUserFrames)) continue;
    ++kept;
    // Libraries' code stays where it was loaded; the user's comes and goes.
    if (!is_library && i < kMaxCheckedDepth) {
      resolved.checked_frames |= uint64_t{1} << i;
    }
    frames.push_back({text.file, text.function, text.line, is_library});
  }
  resolved.checksum = ChecksumOf(reader, stack, resolved.checked_frames);
  resolved.stack = table_->Intern(frames);
  if (resolved.stack == 0) {
    // Full or busy. If it was busy, a later allocation tries again.
    if (!table_->IsFull()) return resolved;
    resolved.stack = kDoesNotFit;
  }
  cache_.Put(stack.key, resolved);
  return resolved;
}

}  // namespace oom_forensics::collector::python
