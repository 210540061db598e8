#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/line_pieces.h"
#include "converter/reader/plane_reader.h"
#include "converter/trace/allocator_trace_writer.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

// No machine has as many CUDA devices.
constexpr uint64_t kNoDevice = 1 << 16;

enum class SchemaKind : uint8_t {
  kUnknown,
  kAlloc,
  kFree,
  kFailed,
  kRegionAdd,
  kRegionRemove,
  kStepBegin,
};

SchemaKind KindOf(std::string_view name) {
  if (name == schema::kAlloc) return SchemaKind::kAlloc;
  if (name == schema::kFree) return SchemaKind::kFree;
  if (name == schema::kFailed) return SchemaKind::kFailed;
  if (name == schema::kRegionAdd) return SchemaKind::kRegionAdd;
  if (name == schema::kRegionRemove) return SchemaKind::kRegionRemove;
  if (name == schema::kStepBegin) return SchemaKind::kStepBegin;
  return SchemaKind::kUnknown;
}

// What an XEventMetadata of our planes stands for.
struct EventClass {
  bool known = false;
  SchemaKind kind = SchemaKind::kUnknown;
  SiteId site = 0;
};

EventClass ReadEventClass(std::string_view metadata,
                          const PlaneVocabulary& vocabulary,
                          ReadContext* context) {
  EventClass event_class;
  event_class.known = true;
  std::string_view op;
  StatSet stats;
  const bool whole = ForEachField(metadata, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xevent_metadata::kName:
        event_class.kind = KindOf(View(reader.get_view()));
        break;
      case schema::xevent_metadata::kDisplayName:
        op = View(reader.get_view());
        break;
      case schema::xevent_metadata::kStats:
        ReadStat(View(reader.get_view()), vocabulary, &stats);
        break;
      default:
        reader.skip();
    }
  });
  if (!whole) {
    context->trace().quality.Add(QualityCounter::kMalformedMessages);
  }
  AllocationSite site = SiteFromStats(stats, vocabulary, {}, context);
  if (site.op == kEmptyString) site.op = context->Intern(op);
  if (site.allocated_bytes == 0) {
    site.allocated_bytes = RoundedBytes(site.requested_bytes);
  }
  event_class.site = context->trace().sites.Intern(site);
  return event_class;
}

class AllocatorPlaneReader {
 public:
  AllocatorPlaneReader(const PlaneLayout& plane, ReadContext* context)
      : context_(context),
        vocabulary_(plane, StatVocabulary::kCollector),
        classes_(plane.event_metadata.size()),
        writer_(context->Text(plane.name.substr(schema::kPlanePrefix.size())),
                Source::COLLECTOR, &context->trace().sites) {
    for (const auto& [id, metadata] : plane.event_metadata) {
      classes_.Set(id, ReadEventClass(metadata, vocabulary_, context));
    }
    ReadFacts(ReadPlaneStats(plane, vocabulary_, &facts().quality));
  }

  void Reserve(uint64_t rows) { writer_.Reserve(rows); }

  void ReadLine(const std::vector<std::string_view>& pieces, int64_t start_ps,
                bool baseline) {
    // kStepId and kThread are sticky within a line.
    EventContext sticky;
    auto next = pieces.begin();
    ReadSideBySide(
        context_->threads(),
        [&]() -> std::optional<std::string_view> {
          if (next == pieces.end()) return std::nullopt;
          return *next++;
        },
        [this, baseline](std::string_view piece) {
          return ReadPiece(piece, baseline);
        },
        [&](const LinePiece& piece) {
          Take(piece, start_ps, baseline, &sticky);
          context_->Consumed(piece.end);
        });
  }

  AllocatorTrace Finish() {
    // Regions are a layout, whatever the plane says.
    if (!facts().regions.empty()) facts().has_layout = true;
    if (!facts().has_layout) facts().quality.Add(QualityCounter::kNoLayout);
    return writer_.Finish();
  }

 private:
  // A step or thread that is said at an event, for it and those after it.
  struct ContextChange {
    size_t at = 0;  // Index into LinePiece::plain.
    std::optional<int64_t> step_id;
    std::optional<uint64_t> thread;
  };
  // An allocation at a known site, or a free: almost all events.
  struct PlainEvent {
    int64_t offset_ps = 0;
    uint64_t address = 0;
    SiteId site = 0;
    bool is_free = false;
  };
  // Any other, which is read when it is its turn.
  struct OtherEvent {
    size_t at = 0;  // It comes before that one of LinePiece::plain.
    std::string_view message;
  };
  // A piece of a line, read as far as no other piece is needed for it.
  struct LinePiece {
    std::vector<PlainEvent> plain;
    std::vector<ContextChange> changes;
    std::vector<OtherEvent> others;
    QualityLog quality;
    const char* end = nullptr;
  };

  AllocatorTrace& facts() { return writer_.facts(); }

  // By any thread.
  LinePiece ReadPiece(std::string_view bytes, bool baseline) const {
    LinePiece piece;
    piece.end = bytes.data() + bytes.size();
    ForEachEvent(
        bytes, vocabulary_, EventsToRead::kAll, &piece.quality,
        [&](const EventFields& event, std::string_view message) {
          const EventClass& event_class = classes_.Get(event.metadata_id);
          const bool is_plain =
              !baseline &&
              (event_class.kind == SchemaKind::kAlloc ||
               event_class.kind == SchemaKind::kFree) &&
              event.stats.HasOnly<StatKind::kAddress, StatKind::kStepId,
                                  StatKind::kThread>();
          if (!is_plain) {
            piece.others.push_back({piece.plain.size(), message});
            return;
          }
          if (event.stats.Has(StatKind::kStepId) ||
              event.stats.Has(StatKind::kThread)) {
            piece.changes.push_back(ChangeOf(event.stats, piece.plain.size()));
          }
          piece.plain.push_back(
              {event.offset_ps, event.stats.AddressOr0(StatKind::kAddress),
               event_class.site, event_class.kind == SchemaKind::kFree});
        });
    return piece;
  }

  static ContextChange ChangeOf(const StatSet& stats, size_t at) {
    ContextChange change;
    change.at = at;
    if (stats.Has(StatKind::kStepId)) {
      change.step_id = stats.Get(StatKind::kStepId).AsInt64();
    }
    if (stats.Has(StatKind::kThread)) {
      change.thread = stats.Get(StatKind::kThread).AsUint64();
    }
    return change;
  }

  static void Apply(const ContextChange& change, EventContext* sticky) {
    sticky->step_id = change.step_id.value_or(sticky->step_id);
    sticky->thread = change.thread.value_or(sticky->thread);
  }

  // In the order of the file.
  void Take(const LinePiece& piece, int64_t start_ps, bool baseline,
            EventContext* sticky) {
    facts().quality.Add(
        QualityCounter::kMalformedMessages,
        piece.quality.count(QualityCounter::kMalformedMessages));
    auto other = piece.others.begin();
    auto change = piece.changes.begin();
    EventFields fields;
    for (size_t i = 0; i <= piece.plain.size(); ++i) {
      for (; other != piece.others.end() && other->at == i; ++other) {
        ReadEvent(other->message, vocabulary_, &fields);
        Apply(ChangeOf(fields.stats, i), sticky);
        Add(fields, start_ps, *sticky, baseline);
      }
      if (i == piece.plain.size()) break;
      if (change != piece.changes.end() && change->at == i) {
        Apply(*change++, sticky);
      }
      const PlainEvent& event = piece.plain[i];
      RowStamp stamp;
      stamp.time_ps = ReadContext::TimePs(start_ps, event.offset_ps);
      stamp.context = *sticky;
      if (event.is_free) {
        writer_.AddFree(stamp, event.address);
      } else {
        writer_.AddAlloc(stamp, event.address, event.site);
      }
    }
  }

  void ReadFacts(const StatSet& stats) {
    const auto text = [&](StatKind kind) {
      return stats.Has(kind)
                 ? context_->Text(vocabulary_.TextOf(stats.Get(kind)))
                 : std::string();
    };
    facts().kind = text(StatKind::kAllocatorKind);
    facts().device = text(StatKind::kDeviceName);
    if (const uint64_t device =
            stats.Uint64Or(StatKind::kCudaDevice, kNoDevice);
        device < kNoDevice) {
      facts().cuda_device = static_cast<int>(device);
    }
    facts().has_layout = stats.Uint64Or(StatKind::kHasLayout, 1) != 0;
    facts().limit_bytes = stats.Uint64Or(StatKind::kBytesLimit, 0);
    if (stats.Has(StatKind::kTotalAllocs)) {
      facts().total_allocs = stats.Get(StatKind::kTotalAllocs).AsUint64();
    }
    if (stats.Has(StatKind::kTotalFrees)) {
      facts().total_frees = stats.Get(StatKind::kTotalFrees).AsUint64();
    }
    const uint64_t dropped = stats.Uint64Or(StatKind::kDroppedEvents, 0);
    if (dropped > 0) {
      facts().quality.Add(QualityCounter::kDroppedEvents, dropped);
    }
    const uint64_t unlisted = stats.Uint64Or(StatKind::kUnlistedAllocations, 0);
    if (!stats.Has(StatKind::kBaselineComplete)) {
      facts().quality.Add(QualityCounter::kNoBaseline);
    } else if (unlisted > 0) {
      facts().quality.Add(QualityCounter::kLiveSetFull, unlisted);
    } else if (stats.Get(StatKind::kBaselineComplete).AsUint64() == 0) {
      facts().quality.Add(QualityCounter::kIncompleteBaseline);
    }
  }

  SiteId SiteOf(const EventFields& event, SiteId site) {
    const bool own = event.stats.Has(StatKind::kRequestedBytes) ||
                     event.stats.Has(StatKind::kAllocatedBytes) ||
                     event.stats.Has(StatKind::kOp) ||
                     event.stats.Has(StatKind::kShape);
    if (!own) return site;
    return context_->trace().sites.Intern(SiteFromStats(
        event.stats, vocabulary_, context_->trace().sites.Get(site), context_));
  }

  // One copy of what stands in the file once.
  std::shared_ptr<const std::string> DumpOf(std::string_view dump) {
    auto& known = dumps_[{dump.data(), dump.size()}];
    if (known == nullptr) known = std::make_shared<const std::string>(dump);
    return known;
  }

  FailedRequest ReadFailure(const EventFields& event) {
    const StatSet& stats = event.stats;
    FailedRequest failure;
    failure.is_oom = stats.Uint64Or(StatKind::kRetryOnFailure, 1) != 0;
    failure.waited_ns = event.duration_ps > 0
                            ? static_cast<uint64_t>(event.duration_ps) / 1000
                            : 0;
    failure.in_use_bytes = stats.Uint64Or(StatKind::kBytesInUse, 0);
    failure.peak_in_use_bytes = stats.Uint64Or(StatKind::kPeakBytesInUse, 0);
    failure.reserved_bytes = stats.Uint64Or(StatKind::kBytesReserved, 0);
    failure.limit_bytes = stats.Uint64Or(StatKind::kBytesLimit, 0);
    failure.largest_free_bytes = stats.Uint64Or(StatKind::kLargestFreeBytes, 0);
    failure.alloc_count = stats.Uint64Or(StatKind::kNumAllocs, 0);
    if (stats.Has(StatKind::kMemoryDump)) {
      failure.memory_dump =
          DumpOf(vocabulary_.TextOf(stats.Get(StatKind::kMemoryDump)));
    }
    if (facts().limit_bytes == 0) facts().limit_bytes = failure.limit_bytes;
    return failure;
  }

  void Add(const EventFields& event, int64_t start_ps,
           const EventContext& sticky, bool baseline) {
    const EventClass& event_class = classes_.Get(event.metadata_id);
    if (!event_class.known) {
      facts().quality.Add(QualityCounter::kUnknownSite);
      return;
    }
    const StatSet& stats = event.stats;
    RowStamp stamp;
    stamp.time_ps = ReadContext::TimePs(start_ps, event.offset_ps);
    stamp.context = sticky;
    if (stats.Has(StatKind::kWeight)) {
      stamp.weight = stats.Get(StatKind::kWeight).AsDouble();
    }
    const uint64_t address = stats.AddressOr0(StatKind::kAddress);
    const uint64_t size = stats.Uint64Or(StatKind::kSizeBytes, 0);
    switch (event_class.kind) {
      case SchemaKind::kAlloc:
        if (baseline) {
          writer_.AddBaselineChunk(stamp, address,
                                   SiteOf(event, event_class.site),
                                   stats.Uint64Or(StatKind::kAgeNs, 0));
        } else {
          writer_.AddAlloc(stamp, address, SiteOf(event, event_class.site));
        }
        break;
      case SchemaKind::kFree:
        writer_.AddFree(stamp, address);
        break;
      case SchemaKind::kFailed:
        writer_.AddFailure(stamp, SiteOf(event, event_class.site),
                           ReadFailure(event));
        break;
      case SchemaKind::kRegionAdd:
        if (baseline) {
          writer_.AddBaselineRegion(stamp, address, size);
        } else {
          writer_.AddRegion(stamp, address, size, true);
        }
        break;
      case SchemaKind::kRegionRemove:
        writer_.AddRegion(stamp, address, size, false);
        break;
      case SchemaKind::kStepBegin:
        if (stats.Has(StatKind::kStep)) {
          context_->steps().AddBegin(stats.Get(StatKind::kStep).AsInt64(),
                                     stamp.time_ps);
        }
        break;
      case SchemaKind::kUnknown:
        facts().quality.Add(QualityCounter::kUnknownEventKind);
        break;
    }
  }

  ReadContext* context_;
  PlaneVocabulary vocabulary_;
  IdMap<EventClass> classes_;
  // By where they stand in the file.
  absl::flat_hash_map<std::pair<const char*, size_t>,
                      std::shared_ptr<const std::string>>
      dumps_;
  AllocatorTraceWriter writer_;
};

}  // namespace

absl::Status ReadAllocatorPlane(const PlaneLayout& plane,
                                ReadContext* context) {
  std::vector<CutLine> lines;
  uint64_t event_count = 0;
  for (const std::string_view line : plane.lines) {
    lines.push_back(CutWhole(line));
    event_count += lines.back().header.event_count;
  }
  const absl::Status fits = context->ReserveRows(event_count);
  if (!fits.ok()) return fits;
  AllocatorPlaneReader reader(plane, context);
  reader.Reserve(event_count);
  for (const bool baseline : {true, false}) {
    for (const CutLine& line : lines) {
      if ((line.header.name == schema::kBaselineLine) != baseline) continue;
      reader.ReadLine(line.pieces,
                      context->LineStartPs(line.header.timestamp_ns), baseline);
    }
  }
  context->trace().allocators.push_back(reader.Finish());
  return absl::OkStatus();
}

}  // namespace oom_forensics
