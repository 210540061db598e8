// A black box (core/black_box.h) as a trace that opens like any other.
#ifndef OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_TRACE_H_
#define OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_TRACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/black_box.h"

namespace oom_forensics {

// How a process came to its end, as far as it is known.
struct Ending {
  // A value of schema::kHostEnd.
  std::string end = "unknown";
  // 0: none, or not known.
  int signal = 0;
  // Empty: not known.
  std::string exit_code;
  // The kernel killed all of the cgroup at once.
  bool whole_group = false;
  // What tells so; empty: nothing does.
  std::string seen;
};

// A box that was read from its file.
class ReadBox {
 public:
  // Fails with one sentence, which begins with `name`, where the bytes are no
  // box of this version, or not the whole of one.
  static absl::StatusOr<std::unique_ptr<ReadBox>> FromBytes(
      std::string_view bytes, const std::string& name);

  const black_box::Header& header() const { return box().header; }
  std::string host() const;
  std::string cgroup() const;
  std::string logdir() const;
  // The run of an out-of-memory that was written right before the process
  // ended; empty: there is none.
  std::string oom_run() const;
  // Whether memory was short at the last sample.
  bool IsShort() const;
  // The time of the last sample; the box's begin where there is none.
  int64_t last_ns() const;

  // The text of a line of a source file; empty: it is not known.
  using LineText =
      std::function<std::string(const std::string& file, uint32_t line)>;

  // The serialized XSpace.
  std::string ToTrace(const Ending& ending, const LineText& line_text) const;

 private:
  ReadBox() = default;
  const black_box::Box& box() const {
    return *reinterpret_cast<const black_box::Box*>(storage_.data());
  }
  // The samples of all rings, by time, each moment once.
  std::vector<const black_box::Sample*> Samples() const;

  // Aligned as a box is.
  std::vector<uint64_t> storage_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_TRACE_H_
