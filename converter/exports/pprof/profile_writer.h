// Writes pprof's profile.proto: a table of strings, functions and locations,
// each once, and the samples that refer to them.
//
//   ProfileWriter profile({{"allocated", "bytes"}});
//   ProfileWriter::Sample sample;
//   sample.stack = {"dense/MatMul", "dense"};   // leaf first
//   sample.values = {4096};
//   profile.Add(sample);
//   std::string bytes = profile.Finish({});
//
// The format: message perftools.profiles.Profile of google/pprof,
// proto/profile.proto.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

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
    // Names of functions, leaf first.
    std::vector<std::string_view> stack;
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
  // The location (and function) of a name; they have the same number.
  uint64_t LocationId(std::string_view function_name);

  std::string samples_;
  std::string value_types_;
  std::vector<std::string> strings_;
  absl::flat_hash_map<std::string, int64_t> string_index_;
  // By location id - 1: the function's name.
  std::vector<int64_t> function_names_;
  absl::flat_hash_map<int64_t, uint64_t> location_of_name_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_PROFILE_WRITER_H_
