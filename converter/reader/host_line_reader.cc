#include "converter/reader/host_line_reader.h"

#include <optional>
#include <utility>

#include "converter/reader/line_pieces.h"
#include "converter/text/text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kMemoryAllocation = "MemoryAllocation";
constexpr std::string_view kMemoryDeallocation = "MemoryDeallocation";
// "CpuCompiler::RunBackend", "GpuCompiler::RunBackend"
constexpr std::string_view kRunBackend = "Compiler::RunBackend";

}  // namespace

HostLineReader::HostLineReader(const PlaneLayout& plane)
    : vocabulary_(plane, StatVocabulary::kStock),
      kinds_(plane.event_metadata.size()),
      function_of_(plane.event_metadata.size()) {
  for (const auto& [id, metadata] : plane.event_metadata) {
    const std::string_view name =
        TextField(metadata, schema::xevent_metadata::kName);
    if (name == kMemoryAllocation) kinds_.Set(id, EventKind::kAllocation);
    if (name == kMemoryDeallocation) kinds_.Set(id, EventKind::kDeallocation);
    if (EndsWith(name, kRunBackend)) {
      kinds_.Set(id, EventKind::kCompilation);
      has_compilations_ = true;
    }
    if (const auto function = ParsePythonFunction(name); function.has_value()) {
      kinds_.Set(id, EventKind::kPythonCall);
      function_of_.Set(id, static_cast<uint32_t>(python_functions_.size()));
      python_functions_.push_back(*function);
    }
  }
}

bool HostLineReader::HasAnything() const {
  return has_compilations_ || vocabulary_.Speaks(StatKind::kStepNum) ||
         vocabulary_.Speaks(StatKind::kStockAddress);
}

void HostLineReader::Read(std::string_view line, uint32_t threads,
                          const std::function<void(HostLinePart)>& take) const {
  ReadSideBySide(
      threads,
      [&line]() -> std::optional<std::string_view> {
        if (line.empty()) return std::nullopt;
        return CutPiece(&line);
      },
      [this](std::string_view piece) { return ReadPart(piece); }, take);
}

HostLinePart HostLineReader::ReadPart(std::string_view piece) const {
  HostLinePart part;
  part.end = piece.data() + piece.size();
  part.header = ForEachEvent(
      piece, vocabulary_,
      // Calls have no stats.
      python_functions_.empty() ? EventsToRead::kWithKnownStats
                                : EventsToRead::kAll,
      &part.quality, [&](const EventFields& event, std::string_view) {
        if (event.stats.Has(StatKind::kStepNum)) {
          part.steps.push_back({event.stats.Get(StatKind::kStepNum).AsInt64(),
                                event.offset_ps, event.duration_ps});
        }
        switch (kinds_.Get(event.metadata_id)) {
          case EventKind::kAllocation:
          case EventKind::kDeallocation:
            part.events.push_back(MemoryEvent(event));
            break;
          case EventKind::kCompilation:
            part.compilations.push_back(
                {TextOf(event.stats, StatKind::kStockName), event.duration_ps});
            break;
          case EventKind::kPythonCall:
            part.calls.push_back({event.offset_ps, event.duration_ps,
                                  function_of_.Get(event.metadata_id)});
            break;
          case EventKind::kNone:
            break;
        }
      });
  return part;
}

StockMemoryEvent HostLineReader::MemoryEvent(const EventFields& event) const {
  const StatSet& stats = event.stats;
  StockMemoryEvent memory;
  memory.is_alloc = kinds_.Get(event.metadata_id) == EventKind::kAllocation;
  memory.offset_ps = event.offset_ps;
  memory.address = stats.AddressOr0(StatKind::kStockAddress);
  memory.allocator = TextOf(stats, StatKind::kStockAllocatorName);
  memory.op = TextOf(stats, StatKind::kStockOp);
  memory.shape = TextOf(stats, StatKind::kShape);
  memory.region_type = TextOf(stats, StatKind::kRegionType);
  memory.dtype = DtypeOf(stats.Int64Or(StatKind::kStockDtype, 0));
  memory.requested_bytes = stats.Uint64Or(StatKind::kRequestedBytes, 0);
  memory.allocated_bytes = stats.Uint64Or(StatKind::kStockAllocatedBytes, 0);
  memory.step_id = stats.Int64Or(StatKind::kStockStepId, 0);
  memory.in_use_bytes = stats.Uint64Or(StatKind::kStockBytesInUse, 0);
  memory.reserved_bytes = stats.Uint64Or(StatKind::kBytesReserved, 0);
  memory.available_bytes = stats.Uint64Or(StatKind::kStockBytesAvailable, 0);
  return memory;
}

std::string_view HostLineReader::TextOf(const StatSet& stats,
                                        StatKind kind) const {
  return stats.Has(kind) ? vocabulary_.TextOf(stats.Get(kind))
                         : std::string_view();
}

}  // namespace oom_forensics
