#include "core/line_builder.h"

#include <algorithm>

#include "core/text_field.h"
#include "proto/event_schema.h"

namespace oom_forensics {

namespace xline = schema::xline;
namespace xevent = schema::xevent;

LineBuilder::LineBuilder(protozero::pbf_writer* plane, int64_t id,
                         std::string_view name, int64_t timestamp_ns)
    : writer_(*plane, schema::xplane::kLines) {
  writer_.add_int64(xline::kId, id);
  AddText(&writer_, xline::kName, name);
  writer_.add_int64(xline::kTimestampNs, timestamp_ns);
}

void LineBuilder::BeginEvent(int64_t metadata_id, int64_t offset_ps) {
  last_offset_ps_ = std::max(offset_ps, last_offset_ps_ + 1);
  event_bytes_.clear();
  event_ = protozero::pbf_writer(event_bytes_);
  event_.add_int64(xevent::kMetadataId, metadata_id);
  event_.add_int64(xevent::kOffsetPs, last_offset_ps_);
}

void LineBuilder::EndEvent() {
  writer_.add_message(xline::kEvents, event_bytes_);
}

}  // namespace oom_forensics
