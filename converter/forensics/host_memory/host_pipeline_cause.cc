#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/forensics/host_memory/host_predicates.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// What a buffer holds is the cause if it is this part of the limit.
constexpr double kMuchInBuffer = 0.25;
// A buffer may have this part of what there was before it was made.
constexpr double kRoomForBuffer = 0.5;

// What a node of tf.data may keep.
struct Buffer {
  const HostActivity* node = nullptr;
  // At most, at the end.
  uint64_t bytes = 0;
  // Tensors of the size of an element that were live then.
  uint64_t tensors = 0;

  bool is_cache() const { return node->name == "cache"; }
  bool is_map() const { return node->name == "map"; }
  // It decides by itself how many elements it keeps (tf.data.AUTOTUNE).
  bool is_tuned() const { return node->live == 0 && !is_cache(); }
};

// It has no more than what came since it was made. Of one that decides by
// itself, what is live tells.
Buffer BufferOf(const HostCase& host_case, const HostActivity& node) {
  const HostMemoryTrace& memory = host_case.host.host_memory;
  const auto tensors_at = [&](int64_t time_ns) {
    // What a pool has taken it need not have touched.
    return std::min(QuantityAt(memory, schema::kRssAnon, time_ns),
                    QuantityAt(memory, schema::kHostTensors, time_ns) +
                        QuantityAt(memory, schema::kHostPools, time_ns));
  };
  const uint64_t now = tensors_at(INT64_MAX);
  const uint64_t came = now - std::min(now, tensors_at(node.first_ns));
  Buffer buffer;
  buffer.node = &node;
  if (host_case.blocks != nullptr && node.element_bytes != 0) {
    buffer.tensors =
        CountTensorsOf(host_case.host, *host_case.blocks, node.element_bytes);
  }
  const uint64_t elements = buffer.is_tuned() ? buffer.tensors : node.live;
  const bool is_bounded =
      buffer.is_tuned() || (elements != 0 && node.element_bytes != 0 &&
                            elements < came / node.element_bytes);
  buffer.bytes =
      is_bounded ? std::min(came, elements * node.element_bytes) : came;
  return buffer;
}

Remedy RemedyOf(const HostCase& host_case, const Buffer& buffer) {
  if (buffer.is_cache()) {
    Remedy remedy = MakeRemedy(
        "smaller_buffer", "Cache the dataset in a file, not in memory",
        "Give cache() the path of a file on a local disk.", buffer.bytes);
    remedy.set_code("dataset.cache(\"/path/of/a/file\")");
    return remedy;
  }
  const HostActivity& node = *buffer.node;
  const uint64_t had =
      QuantityAt(host_case.host.host_memory, schema::kRssAnon, node.first_ns);
  const uint64_t room = host_case.whole - std::min(host_case.whole, had);
  const uint64_t fits =
      node.element_bytes == 0
          ? 0
          : static_cast<uint64_t>(static_cast<double>(room) * kRoomForBuffer) /
                node.element_bytes;
  const std::string what = buffer.is_map()
                               ? "Or have each call make a smaller element."
                               : "Or shuffle names or numbers, and read them "
                                 "after that.";
  const std::string argument =
      buffer.is_map() ? "num_parallel_calls" : "buffer_size";
  Remedy remedy = MakeRemedy(
      "smaller_buffer", absl::StrCat("Let ", node.name, "() keep less"),
      fits == 0 ? absl::StrCat("Give it a smaller ", argument,
                               ". Or make its elements smaller.")
                : absl::StrCat("Give it a ", argument, " of ", fits,
                               " at most: they take half of what the limit "
                               "left when it was made. ",
                               buffer.node->name == "prefetch" ? "" : what),
      buffer.bytes);
  if (fits != 0) {
    remedy.set_code(buffer.is_map()
                        ? absl::StrCat("dataset.map(function, "
                                       "num_parallel_calls=",
                                       fits, ")")
                        : absl::StrCat("dataset.", node.name, "(", fits, ")"));
  }
  return remedy;
}

}  // namespace

std::optional<HostCause> FindPipelineBuffer(const HostCase& host_case) {
  Buffer buffer;
  for (const HostActivity& node : host_case.host.host_memory.activities) {
    if (node.kind != schema::kBufferActivity) continue;
    const Buffer other = BufferOf(host_case, node);
    if (other.bytes > buffer.bytes) buffer = other;
  }
  if (ShareOf(buffer.bytes, host_case) < kMuchInBuffer) return std::nullopt;
  const HostActivity& node = *buffer.node;
  const auto line = LineOf(host_case, node);
  const bool is_sized = node.element_bytes != 0;
  const std::string size = FormatBytes(node.element_bytes);
  HostCause cause = MakeHostCause(host_case, "PIPELINE_BUFFER", buffer.bytes);
  cause.sentence =
      absl::StrCat("The dataset's ", buffer.is_map() ? "parallel " : "",
                   node.name, "()", AtLine(line), " keeps ");
  if (buffer.is_cache()) {
    absl::StrAppend(&cause.sentence, "all elements",
                    is_sized ? absl::StrCat(", of ", size, " each") : "");
  } else if (buffer.is_tuned()) {
    absl::StrAppend(&cause.sentence,
                    "as many elements as it finds best (AUTOTUNE), of ", size,
                    " each");
  } else {
    absl::StrAppend(
        &cause.sentence, "up to ", CountOf(node.live, "element"),
        is_sized ? absl::StrCat(" of ", size, ", ",
                                FormatBytes(node.element_bytes * node.live),
                                " together")
                 : "");
  }
  absl::StrAppend(
      &cause.sentence, ". TensorFlow's memory grew by ",
      FormatBytes(buffer.bytes), " since the pipeline began; ",
      buffer.tensors == 0
          ? "the number of elements that it held by then is not recorded."
          : absl::StrCat(CountOf(buffer.tensors, "tensor"), " of that size ",
                         buffer.tensors == 1 ? "was" : "were",
                         " live at the end."));
  cause.evidence =
      MakeEvidence("buffer_bytes", static_cast<double>(buffer.bytes), "bytes");
  cause.remedy = RemedyOf(host_case, buffer);
  PointTo(line, &*cause.remedy);
  return cause;
}

}  // namespace oom_forensics
