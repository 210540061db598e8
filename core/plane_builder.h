// PlaneBuilder: one XPlane in the making, where it will stand in its XSpace: a
// plane of millions of events is never copied. Numbers its stat and event
// metadata as they are first used, and writes them last, which the wire format
// allows.
#ifndef OOM_FORENSICS_CORE_PLANE_BUILDER_H_
#define OOM_FORENSICS_CORE_PLANE_BUILDER_H_

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

namespace oom_forensics {

class PlaneBuilder {
 public:
  // Appends to `space`, a serialized XSpace, which nobody else may write to
  // until Finish().
  PlaneBuilder(std::string* space, std::string_view name);

  // The id of the XStatMetadata with this name: of a stat, or of a string that
  // stats refer to. `text` must outlive the plane.
  int64_t StatId(std::string_view text);

  // Appends one XStat in field `field` of `message`.
  void AddUint(protozero::pbf_writer* message, uint32_t field,
               std::string_view name, uint64_t value);
  void AddInt(protozero::pbf_writer* message, uint32_t field,
              std::string_view name, int64_t value);
  void AddDouble(protozero::pbf_writer* message, uint32_t field,
                 std::string_view name, double value);
  void AddString(protozero::pbf_writer* message, uint32_t field,
                 std::string_view name, std::string_view value);
  void AddBytes(protozero::pbf_writer* message, uint32_t field,
                std::string_view name, std::string_view value);
  void AddRef(protozero::pbf_writer* message, uint32_t field,
              std::string_view name, std::string_view value);

  // Appends a serialised XEventMetadata and returns its id; `fields` is all of
  // it but the id.
  int64_t AddEventMetadata(std::string_view fields);

  // As above, with an id that the caller chooses. A plane uses one of the two.
  void AddEventMetadataWithId(int64_t id, std::string_view fields);

  // The message itself, for stats of the plane and for its lines.
  protozero::pbf_writer* plane() { return &writer_; }

  // Adds the metadata. Ends the builder.
  void Finish();

 private:
  std::string* const space_;
  std::string event_metadata_;
  protozero::pbf_writer space_writer_;
  protozero::pbf_writer writer_;
  protozero::pbf_writer event_metadata_writer_;
  std::unordered_map<std::string_view, int64_t> stat_ids_;
  int64_t event_metadata_count_ = 0;
};

// Appends the plane with which TensorFlow relates the times of a trace to the
// clock. A trace that does not pass through TensorFlow needs one of its own.
void WriteTaskEnvironment(int64_t start_ns, int64_t stop_ns,
                          std::string* space);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_PLANE_BUILDER_H_
