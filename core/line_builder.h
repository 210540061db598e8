// LineBuilder: one XLine in the making. Keeps the one rule that every line of
// event_schema.h has: offsets are strictly increasing, because TensorFlow sorts
// the events of a line by time and their order must survive it.
#ifndef OOM_FORENSICS_CORE_LINE_BUILDER_H_
#define OOM_FORENSICS_CORE_LINE_BUILDER_H_

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

namespace oom_forensics {

// What protozero takes for text.
inline protozero::data_view View(std::string_view text) {
  return {text.data(), text.size()};
}

class LineBuilder {
 public:
  // Appends to `plane`, a serialized XPlane, which nobody else may write to
  // while the line lives. `timestamp_ns`: what the offsets of the events count
  // from.
  LineBuilder(protozero::pbf_writer* plane, int64_t id, std::string_view name,
              int64_t timestamp_ns);
  LineBuilder(const LineBuilder&) = delete;
  LineBuilder& operator=(const LineBuilder&) = delete;

  // Begins an event at `offset_ps` or, where that is not after the event
  // before, 1 ps after it. The caller adds its stats to event().
  void BeginEvent(int64_t metadata_id, int64_t offset_ps);
  protozero::pbf_writer* event() { return &event_; }
  void EndEvent();

 private:
  protozero::pbf_writer writer_;
  int64_t last_offset_ps_ = -1;
  std::string event_bytes_;
  protozero::pbf_writer event_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_LINE_BUILDER_H_
