// Writes XSpaces field by field, for tests: whole ones and broken ones.
#ifndef OOM_FORENSICS_CONVERTER_TESTING_XSPACE_BUILDER_H_
#define OOM_FORENSICS_CONVERTER_TESTING_XSPACE_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics::test {

// The value of an XStat.
struct Stat {
  enum class Type { kUint64, kInt64, kDouble, kText, kRef };
  std::string name;
  Type type = Type::kUint64;
  uint64_t number = 0;
  double real = 0;
  std::string text;
};

Stat U64(std::string_view name, uint64_t value);
Stat I64(std::string_view name, int64_t value);
Stat Real(std::string_view name, double value);
Stat Text(std::string_view name, std::string_view value);
// A string said once for the plane.
Stat Ref(std::string_view name, std::string_view value);

struct Event {
  int64_t metadata_id = 0;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  std::vector<Stat> stats;
};

struct Line {
  int64_t id = 0;
  std::string name;
  int64_t timestamp_ns = 0;
  std::vector<Event> events;
};

// How the fields of a plane and of its lines follow each other: by their
// numbers, as TensorFlow writes them (events before what explains them), or the
// other way round, which is as valid.
enum class FieldOrder { kAsWritten, kReversed };

// One XPlane. Numbers of metadata are given out in the order of use.
class PlaneBuilder {
 public:
  explicit PlaneBuilder(std::string_view name) : name_(name) {}

  void AddStat(const Stat& stat) { stats_.push_back(stat); }
  // An XEventMetadata, always a new one; returns its id.
  int64_t AddEventMetadata(std::string_view name,
                           std::string_view display_name = "",
                           const std::vector<Stat>& stats = {});
  void AddLine(const Line& line) { lines_.push_back(line); }
  // The serialized XPlane.
  std::string Serialize(FieldOrder order = FieldOrder::kAsWritten);

 private:
  int64_t StatId(const std::string& name);
  std::string SerializeStat(const Stat& stat);
  std::string SerializeLine(const Line& line, FieldOrder order);

  std::string name_;
  std::vector<Stat> stats_;
  std::vector<std::string> event_metadata_;  // Serialized, by id - 1.
  std::map<std::string, int64_t> stat_ids_;
  std::vector<Line> lines_;
};

// The XSpace of serialized planes.
std::string SerializeSpace(const std::vector<std::string>& planes);

// "Task Environment" with the session's start.
std::string TaskEnvironmentPlane(uint64_t profile_start_ns,
                                 uint64_t profile_stop_ns);

}  // namespace oom_forensics::test

#endif  // OOM_FORENSICS_CONVERTER_TESTING_XSPACE_BUILDER_H_
