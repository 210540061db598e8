// Writes pprof's profile.proto: a table of strings, functions and locations,
// each once, and the samples that refer to them.
//
//   ProfileWriter profile({{"allocated", "bytes"}});
//   ProfileWriter::Sample sample;
//   sample.stack = {{"dense/MatMul"}, {"train", "train.py", 41}};  // leaf
//   first sample.values = {4096}; profile.Add(sample); std::string bytes =
//   profile.Finish({});
//
// The format: message perftools.profiles.Profile of google/pprof,
// proto/profile.proto.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/exports/pprof/call_stack.h"

namespace oom_forensics {

class ProfileWriter {
 public:
  struct ValueType {
    std::string type;
    std::string unit;
  };
  // A text, or a number with its unit where `text` is empty.
  struct Label {
    std::string_view key;
    std::string_view text;
    int64_t number = 0;
    std::string_view unit;
  };
  struct Sample {
    // Leaf first.
    std::vector<StackPlace> stack;
    // One for each value type.
    std::vector<int64_t> values;
    std::vector<Label> labels;
  };
  struct Facts {
    // Nanoseconds since the epoch; 0: unknown.
    int64_t time_ns = 0;
    // The value type that is shown first.
    std::string_view default_type;
    // What a reader should know, a line each.
    std::vector<std::string> comments;
  };

  explicit ProfileWriter(const std::vector<ValueType>& value_types);

  void Add(const Sample& sample);
  // The serialized message. The writer is used up.
  std::string Finish(const Facts& facts);

 private:
  int64_t StringIndex(std::string_view text);
  uint64_t LocationId(const StackPlace& place);

  std::string samples_;
  std::string value_types_;
  std::vector<std::string> strings_;
  absl::flat_hash_map<std::string, int64_t> string_index_;
  // Indices of its name and its file.
  using Function = std::pair<int64_t, int64_t>;
  // A function's id, and a line of it.
  using Location = std::pair<uint64_t, uint32_t>;
  // By id - 1.
  std::vector<Function> functions_;
  std::vector<Location> locations_;
  absl::flat_hash_map<Function, uint64_t> function_ids_;
  absl::flat_hash_map<Location, uint64_t> location_ids_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_
