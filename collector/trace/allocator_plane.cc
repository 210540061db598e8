#include "collector/trace/allocator_plane.h"

#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <unordered_map>

#include "collector/tensorflow/memory_dump.h"
#include "collector/trace/trace_writer.h"
#include "core/line_builder.h"
#include "core/plane_builder.h"
#include "core/text_field.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

using protozero::pbf_writer;
namespace xplane = schema::xplane;
namespace xevent = schema::xevent;
namespace xevent_metadata = schema::xevent_metadata;

std::string_view NameOf(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::kAlloc:
      return schema::kAlloc;
    case RecordedKind::kFree:
      return schema::kFree;
    case RecordedKind::kFailed:
      return schema::kFailed;
    case RecordedKind::kRegionAdd:
      return schema::kRegionAdd;
    case RecordedKind::kRegionRemove:
      return schema::kRegionRemove;
    case RecordedKind::kStepBegin:
      return schema::kStepBegin;
  }
  return {};
}

// The plane of one allocator.
class AllocatorPlaneWriter {
 public:
  AllocatorPlaneWriter(const SessionFacts& session, const AllocatorInfo& info,
                       const Recording& recording,
                       const std::vector<const Site*>& sites,
                       std::set<StackId>* used_stacks, std::string* space)
      : session_(session),
        info_(info),
        recording_(recording),
        sites_(sites),
        used_stacks_(used_stacks),
        plane_(space, PlaneName(info)) {
    for (const Failure& failure : recording.failures) {
      failures_.emplace(failure.sequence, &failure);
    }
  }

  void Write() {
    WriteFacts();
    WriteBaseline();
    WriteEvents();
    plane_.Finish();
  }

 private:
  // A line and the sticky stats of its last event.
  struct Line : LineBuilder {
    using LineBuilder::LineBuilder;
    int64_t step_id = 0;
    uint32_t thread = 0;
  };

  static std::string PlaneName(const AllocatorInfo& info) {
    return std::string(schema::kPlanePrefix) + info.name + "#" +
           std::to_string(info.instance);
  }

  void WriteFacts() {
    const EventTotals& totals = recording_.totals[info_.id];
    pbf_writer* plane = plane_.plane();
    constexpr uint32_t kField = xplane::kStats;
    plane_.AddString(plane, kField, schema::kAllocatorName, info_.name);
    plane_.AddString(plane, kField, schema::kAllocatorKind, info_.kind);
    if (!info_.device_name.empty()) {
      plane_.AddString(plane, kField, schema::kDeviceName, info_.device_name);
    }
    if (info_.cuda_device >= 0) {
      plane_.AddUint(plane, kField, schema::kCudaDevice,
                     static_cast<uint64_t>(info_.cuda_device));
    }
    if (!info_.has_layout) {
      plane_.AddUint(plane, kField, schema::kHasLayout, 0);
    }
    if (info_.limit_bytes != 0) {
      plane_.AddUint(plane, kField, schema::kBytesLimit, info_.limit_bytes);
    }
    plane_.AddUint(plane, kField, schema::kBaselineComplete,
                   info_.complete && totals.unlisted == 0 ? 1 : 0);
    if (totals.unlisted != 0) {
      plane_.AddUint(plane, kField, schema::kUnlistedAllocations,
                     totals.unlisted);
    }
    plane_.AddUint(plane, kField, schema::kTotalAllocs, totals.allocs);
    plane_.AddUint(plane, kField, schema::kTotalFrees, totals.frees);
    plane_.AddUint(plane, kField, schema::kDroppedEvents, totals.dropped);
  }

  void WriteBaseline() {
    const LiveState& baseline = recording_.baseline;
    Line line(plane_.plane(), 1, schema::kBaselineLine, TimestampNs());
    // Training steps belong to no allocator; the first plane carries them.
    if (info_.id == 0 && baseline.training_step != kNoStep) {
      BeginEvent(&line, RecordedKind::kStepBegin, 0, 0);
      plane_.AddInt(event_, xevent::kStats, schema::kStep,
                    baseline.training_step);
      line.EndEvent();
    }
    for (const Region& region : baseline.regions) {
      if (region.allocator != info_.id) continue;
      BeginEvent(&line, RecordedKind::kRegionAdd, 0, 0);
      AddRegionStats(region.address, region.size_bytes);
      line.EndEvent();
    }
    // What is compared lies side by side: millions are sorted.
    std::vector<std::pair<int64_t, size_t>> by_birth;
    by_birth.reserve(baseline.allocations.size());
    for (size_t i = 0; i < baseline.allocations.size(); ++i) {
      const LiveAllocation& allocation = baseline.allocations[i];
      if (allocation.allocator != info_.id) continue;
      by_birth.emplace_back(allocation.born_ns, i);
    }
    std::sort(by_birth.begin(), by_birth.end(),
              [&](const auto& a, const auto& b) {
                if (a.first != b.first) return a.first < b.first;
                return baseline.allocations[a.second].address <
                       baseline.allocations[b.second].address;
              });
    for (size_t i = 0; i < by_birth.size(); ++i) {
      const auto& [born_ns, index] = by_birth[i];
      const LiveAllocation* const allocation = &baseline.allocations[index];
      // They lie by address: each would be waited for.
      const size_t soon =
          by_birth[std::min(i + 16, by_birth.size() - 1)].second;
      __builtin_prefetch(&baseline.allocations[soon]);
      BeginEvent(&line, RecordedKind::kAlloc, allocation->site, 0);
      AddAddress(allocation->address);
      AddWeight(allocation->site);
      const int64_t age_ns = std::max<int64_t>(0, baseline.time_ns - born_ns);
      plane_.AddUint(event_, xevent::kStats, schema::kAgeNs,
                     static_cast<uint64_t>(age_ns));
      AddStickyStats(&line, StepIdOf(allocation->site, allocation->step_id),
                     allocation->thread);
      line.EndEvent();
    }
  }

  void WriteEvents() {
    const int64_t start_ns = recording_.baseline.time_ns;
    Line line(plane_.plane(), 2, schema::kEventsLine, TimestampNs());
    recording_.ForEachEvent([&](const Event& event) {
      if (event.allocator != info_.id) return;
      BeginEvent(&line, event.kind, event.site,
                 (event.time_ns - start_ns) * 1000);
      switch (event.kind) {
        case RecordedKind::kAlloc:
          AddAddress(event.address);
          AddWeight(event.site);
          AddStickyStats(&line, StepIdOf(event.site, event.value),
                         event.thread);
          break;
        case RecordedKind::kFree:
          AddAddress(event.address);
          AddStickyStats(&line, line.step_id, event.thread);
          break;
        case RecordedKind::kFailed:
          AddStickyStats(&line, StepIdOf(event.site, event.value),
                         event.thread);
          AddFailureStats(event.sequence);
          break;
        case RecordedKind::kRegionAdd:
        case RecordedKind::kRegionRemove:
          AddRegionStats(event.address, static_cast<uint64_t>(event.value));
          break;
        case RecordedKind::kStepBegin:
          plane_.AddInt(event_, xevent::kStats, schema::kStep, event.value);
          break;
      }
      line.EndEvent();
    });
  }

  void BeginEvent(Line* line, RecordedKind kind, SiteId site,
                  int64_t offset_ps) {
    line->BeginEvent(MetadataId(kind, site), offset_ps);
    event_ = line->event();
  }

  // Where the lines begin; see SessionFacts::writes_own_file.
  int64_t TimestampNs() const {
    return session_.writes_own_file ? 0 : recording_.baseline.time_ns;
  }

  std::string Disguised(const std::string& dump) const {
    if (session_.address_shift == 0) return dump;
    return ReplaceAddresses(dump, [this](uint64_t address) {
      return address - session_.address_shift;
    });
  }

  void AddAddress(uint64_t address) {
    plane_.AddUint(event_, xevent::kStats, schema::kAddress,
                   address - session_.address_shift);
  }

  // Null if it is not known.
  const SiteKey* KeyOf(SiteId site) const {
    return site == 0 || site > sites_.size() ? nullptr : &sites_[site - 1]->key;
  }

  // An eager op is a run of its own: its id is random, never seen again, and
  // would be a quarter of the trace.
  int64_t StepIdOf(SiteId site, int64_t step_id) const {
    const SiteKey* key = KeyOf(site);
    return key != nullptr && key->mode == ExecutionMode::kEager ? 0 : step_id;
  }

  // What an allocation stands for under sampling.
  void AddWeight(SiteId site) {
    if (session_.sampling_rate == 1 || KeyOf(site) == nullptr) return;
    if (KeyOf(site)->requested_bytes >= kAlwaysKeptBytes) return;
    plane_.AddDouble(event_, xevent::kStats, schema::kWeight,
                     1 / session_.sampling_rate);
  }

  void AddStickyStats(Line* line, int64_t step_id, uint32_t thread) {
    if (step_id != line->step_id) {
      plane_.AddInt(event_, xevent::kStats, schema::kStepId, step_id);
      line->step_id = step_id;
    }
    if (thread != line->thread) {
      plane_.AddUint(event_, xevent::kStats, schema::kThread, thread);
      line->thread = thread;
    }
  }

  void AddRegionStats(uint64_t address, uint64_t size_bytes) {
    AddAddress(address);
    plane_.AddUint(event_, xevent::kStats, schema::kSizeBytes, size_bytes);
  }

  void AddFailureStats(uint64_t sequence) {
    const auto found = failures_.find(sequence);
    if (found == failures_.end()) return;
    const Failure& failure = *found->second;
    event_->add_int64(xevent::kDurationPs, failure.waited_ns * 1000);
    const auto add = [&](std::string_view name, uint64_t value) {
      plane_.AddUint(event_, xevent::kStats, name, value);
    };
    add(schema::kRetryOnFailure, failure.retry_on_failure ? 1 : 0);
    if (failure.statistics.has_value()) {
      add(schema::kNumAllocs, failure.statistics->num_allocs);
      add(schema::kBytesInUse, failure.statistics->bytes_in_use);
      add(schema::kPeakBytesInUse, failure.statistics->peak_bytes_in_use);
      add(schema::kBytesLimit, failure.statistics->limit_bytes);
    }
    if (!failure.memory_dump.empty()) {
      add(schema::kBytesReserved, failure.reserved_bytes);
      add(schema::kLargestFreeBytes, failure.largest_free_bytes);
      plane_.AddBytes(event_, xevent::kStats, schema::kMemoryDump,
                      Disguised(failure.memory_dump));
    }
  }

  // The id of the XEventMetadata for events of this kind at this site.
  int64_t MetadataId(RecordedKind kind, SiteId site) {
    const bool has_site =
        kind == RecordedKind::kAlloc || kind == RecordedKind::kFailed;
    if (!has_site) site = 0;
    const uint64_t key = uint64_t{site} << 8 | static_cast<uint8_t>(kind);
    const auto [found, is_new] = metadata_ids_.try_emplace(key, 0);
    if (is_new) found->second = AddMetadata(kind, site);
    return found->second;
  }

  int64_t AddMetadata(RecordedKind kind, SiteId site) {
    std::string fields;
    pbf_writer writer(fields);
    AddText(&writer, xevent_metadata::kName, NameOf(kind));
    if (KeyOf(site) != nullptr) {
      const SiteKey& key = *KeyOf(site);
      constexpr uint32_t kField = xevent_metadata::kStats;
      if (!key.op.empty()) {
        AddText(&writer, xevent_metadata::kDisplayName, key.op);
        plane_.AddRef(&writer, kField, schema::kOp, key.op);
      }
      if (!key.shape.empty()) {
        plane_.AddRef(&writer, kField, schema::kShape, key.shape);
      }
      if (!key.region_type.empty()) {
        plane_.AddRef(&writer, kField, schema::kRegionType, key.region_type);
      }
      if (key.dtype != 0) {
        plane_.AddInt(&writer, kField, schema::kDtype, key.dtype);
      }
      if (key.mode != ExecutionMode::kUnknown) {
        plane_.AddUint(&writer, kField, schema::kEager,
                       key.mode == ExecutionMode::kEager ? 1 : 0);
      }
      if (!key.compiled.empty()) AddCompiledOrigin(key.compiled, &writer);
      if (key.stack != 0) {
        plane_.AddUint(&writer, kField, schema::kStack, key.stack);
        used_stacks_->insert(key.stack);
      }
      plane_.AddUint(&writer, kField, schema::kRequestedBytes,
                     key.requested_bytes);
      if (kind == RecordedKind::kAlloc) {
        plane_.AddUint(&writer, kField, schema::kAllocatedBytes,
                       key.allocated_bytes);
      }
    }
    return plane_.AddEventMetadata(fields);
  }

  void AddCompiledOrigin(const CompiledOrigin& origin, pbf_writer* metadata) {
    const auto add = [&](std::string_view name, std::string_view text) {
      if (text.empty()) return;
      plane_.AddRef(metadata, xevent_metadata::kStats, name, text);
    };
    add(schema::kCompiledFunction, origin.function);
    add(schema::kHloModule, origin.module);
    add(schema::kLaunchOp, origin.launch_op);
    add(schema::kBufferKind, origin.buffer_kind);
    if (origin.program_id != kNoProgram) {
      plane_.AddUint(metadata, xevent_metadata::kStats, schema::kHloProgramId,
                     static_cast<uint64_t>(origin.program_id));
    }
    if (origin.buffer_allocation != kNoBufferAllocation) {
      plane_.AddInt(metadata, xevent_metadata::kStats,
                    schema::kBufferAllocation, origin.buffer_allocation);
    }
  }

  const SessionFacts& session_;
  const AllocatorInfo& info_;
  const Recording& recording_;
  const std::vector<const Site*>& sites_;
  std::set<StackId>* const used_stacks_;
  PlaneBuilder plane_;
  std::unordered_map<uint64_t, const Failure*> failures_;
  std::unordered_map<uint64_t, int64_t> metadata_ids_;
  // The event in the making.
  pbf_writer* event_ = nullptr;
};

}  // namespace

void WriteAllocatorPlane(const SessionFacts& session, const AllocatorInfo& info,
                         const Recording& recording,
                         const std::vector<const Site*>& sites,
                         std::set<StackId>* used_stacks, std::string* space) {
  AllocatorPlaneWriter(session, info, recording, sites, used_stacks, space)
      .Write();
}

}  // namespace oom_forensics::collector
