// What TensorFlow's own GPU tracer says of driver memory, the poorer second
// source (xla/backends/profiler/gpu/cupti_collector.cc, CreateXEvent):
//
//   /host:CUPTI       one event per driver call
//     memalloc_details         "kind:device num_bytes:1024"      no address
//     MemFree_details          "kind:device num_bytes:0"         no size either
//   /device:GPU:<n>   only where memory residency is traced
//     MemoryResidency_details  "kind:device num_bytes:1024 addr:0x00007f..."
//                              the event lasts as long as the block; one that
//                              was never freed lasts 1 ns
//
// Where a device has residency events, they are read, else the calls.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"
#include "converter/trace/allocator_trace_writer.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kCuptiPlane = "/host:CUPTI";
constexpr std::string_view kDevicePrefix = "/device:GPU:";
constexpr int64_t kNeverFreedPs = 1000;
constexpr int64_t kMaxDevice = 1023;

struct Details {
  std::string_view kind;
  uint64_t bytes = 0;
  uint64_t address = 0;
};

// "kind:device num_bytes:1024 addr:0x..."; what is not there stays 0.
Details ParseDetails(std::string_view text) {
  Details details;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size()
                                                       : space + 1);
    if (ConsumePrefix(&word, "kind:")) {
      details.kind = word;
    } else if (ConsumePrefix(&word, "num_bytes:")) {
      if (!ParseInteger(word, &details.bytes)) details.bytes = 0;
    } else if (ConsumePrefix(&word, "addr:0x")) {
      if (!ParseInteger(word, &details.address, 16)) details.address = 0;
    }
  }
  details.bytes = std::min(details.bytes, kMaxChunkBytes);
  return details;
}

// The events of one device, by where they come from.
struct StockDevice {
  std::vector<DeviceEvent> calls;
  std::vector<DeviceEvent> residency;
};

class StockDeviceReader {
 public:
  explicit StockDeviceReader(ReadContext* context) : context_(context) {}

  absl::Status Read(const PlaneLayout& plane, int64_t plane_device) {
    const PlaneVocabulary vocabulary(plane, StatVocabulary::kStock);
    if (!vocabulary.Speaks(StatKind::kMemallocDetails) &&
        !vocabulary.Speaks(StatKind::kMemFreeDetails) &&
        !vocabulary.Speaks(StatKind::kMemoryResidencyDetails)) {
      return absl::OkStatus();
    }
    for (const std::string_view line : plane.lines) {
      const LineHeader header = ReadLineHeader(line);
      const absl::Status fits = context_->ReserveRows(header.event_count);
      if (!fits.ok()) return fits;
      const int64_t start_ps = context_->LineStartPs(header.timestamp_ns);
      ForEachEvent(line, vocabulary, EventsToRead::kAll,
                   &context_->trace().quality,
                   [&](const EventFields& event, std::string_view) {
                     Add(event, vocabulary, start_ps, plane_device);
                   });
    }
    return absl::OkStatus();
  }

  void Finish() {
    for (auto& [number, stock] : devices_) {
      DeviceTrace device;
      device.name = absl::StrCat("cupti:", number);
      device.mode = "stock";
      device.source = Source::STOCK_TRACE;
      const bool has_residency = !stock.residency.empty();
      device.reason = has_residency
                          ? "from TensorFlow's own memory residency events"
                          : "from TensorFlow's own driver calls";
      device.events = std::move(has_residency ? stock.residency : stock.calls);
      std::stable_sort(device.events.begin(), device.events.end(),
                       [](const DeviceEvent& a, const DeviceEvent& b) {
                         return a.time_ps < b.time_ps;
                       });
      context_->trace().devices.push_back(std::move(device));
    }
  }

 private:
  void Add(const EventFields& fields, const PlaneVocabulary& vocabulary,
           int64_t start_ps, int64_t plane_device) {
    const auto has = [&](StatKind kind) { return fields.stats.Has(kind); };
    const StatKind kind =
        has(StatKind::kMemallocDetails)  ? StatKind::kMemallocDetails
        : has(StatKind::kMemFreeDetails) ? StatKind::kMemFreeDetails
                                         : StatKind::kMemoryResidencyDetails;
    if (!has(kind)) return;
    const Details details =
        ParseDetails(vocabulary.TextOf(fields.stats.Get(kind)));
    const int64_t device = std::clamp<int64_t>(
        fields.stats.Int64Or(StatKind::kDeviceId, plane_device), 0, kMaxDevice);
    DeviceEvent event;
    event.memory_kind = context_->Intern(details.kind);
    event.size_bytes = details.bytes;
    event.time_ps = std::clamp(ReadContext::TimePs(start_ps, fields.offset_ps),
                               -kMaxTimePs, kMaxTimePs);
    event.kind = kind == StatKind::kMemFreeDetails ? DeviceEventKind::kFree
                                                   : DeviceEventKind::kAlloc;
    if (kind != StatKind::kMemoryResidencyDetails) {
      devices_[device].calls.push_back(event);
      return;
    }
    event.address = details.address;
    devices_[device].residency.push_back(event);
    if (fields.duration_ps <= kNeverFreedPs) return;
    event.kind = DeviceEventKind::kFree;
    event.time_ps =
        std::clamp(ReadContext::TimePs(event.time_ps, fields.duration_ps),
                   -kMaxTimePs, kMaxTimePs);
    devices_[device].residency.push_back(event);
  }

  ReadContext* context_;
  std::map<int64_t, StockDevice> devices_;
};

}  // namespace

absl::Status ReadStockDevices(const SpaceLayout& layout, ReadContext* context) {
  if (!context->trace().devices.empty()) return absl::OkStatus();
  StockDeviceReader reader(context);
  for (const PlaneLayout& plane : layout.planes) {
    std::string_view number = plane.name;
    int64_t device = 0;
    const bool is_device =
        ConsumePrefix(&number, kDevicePrefix) && ParseInteger(number, &device);
    if (!is_device && plane.name != kCuptiPlane) continue;
    const absl::Status read = reader.Read(plane, device);
    if (!read.ok()) return read;
  }
  reader.Finish();
  return absl::OkStatus();
}

}  // namespace oom_forensics
