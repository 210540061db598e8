#include "converter/reader/plane_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/trace/allocator_trace_writer.h"
#include "core/shape_text.h"

namespace oom_forensics {
namespace {

// Nanoseconds since the epoch before which no trace was made (2001); a line's
// start beyond it is not relative to a session.
constexpr int64_t kEpochTimesFromNs = 1'000'000'000'000'000'000;
constexpr size_t kLongText = 256;
// Columns and replay together, in use per row.
constexpr uint64_t kBytesPerRow = 48;

}  // namespace

int64_t ReadContext::LineStartPs(int64_t timestamp_ns) {
  if (timestamp_ns >= kEpochTimesFromNs) {
    if (trace_.origin_ns == 0) trace_.origin_ns = timestamp_ns;
    timestamp_ns -= trace_.origin_ns;
  }
  int64_t start_ps = 0;
  if (__builtin_mul_overflow(timestamp_ns, int64_t{1000}, &start_ps)) {
    return timestamp_ns < 0 ? -kMaxTimePs - 1 : kMaxTimePs + 1;
  }
  return start_ps;
}

int64_t ReadContext::TimePs(int64_t start_ps, int64_t offset_ps) {
  int64_t time_ps = 0;
  if (__builtin_add_overflow(start_ps, offset_ps, &time_ps)) {
    return offset_ps < 0 ? -kMaxTimePs - 1 : kMaxTimePs + 1;
  }
  return time_ps;
}

bool ReadContext::MayKeep(uint64_t bytes) {
  if (bytes > copy_bytes_left_) {
    trace_.quality.Add(QualityCounter::kShortenedText);
    return false;
  }
  copy_bytes_left_ -= bytes;
  return true;
}

std::string ReadContext::Text(std::string_view text) {
  return MayKeep(std::min(text.size(), kMaxTextBytes)) ? CleanText(text)
                                                       : std::string();
}

std::string ReadContext::CleanText(std::string_view text) {
  bool shortened = false;
  std::string clean = SanitizedText(text, &shortened);
  if (shortened) trace_.quality.Add(QualityCounter::kShortenedText);
  return clean;
}

StringId ReadContext::Intern(std::string_view text) {
  if (text.empty()) return kEmptyString;
  const auto intern = [&] {
    return trace_.strings.Intern(IsCleanText(text) ? text : CleanText(text));
  };
  // To look a short one up takes as long as to look up where it stands.
  if (text.size() < kLongText) return intern();
  const auto [known, is_new] =
      long_texts_.try_emplace({text.data(), text.size()}, kEmptyString);
  if (is_new) known->second = intern();
  return known->second;
}

absl::Status ReadContext::ReserveRows(uint64_t rows) {
  reserved_rows_ += rows;
  const uint64_t limit_bytes = options_.max_resident_bytes;
  if (limit_bytes == 0 || reserved_rows_ <= limit_bytes / kBytesPerRow) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(trace_.file_name, " has ", reserved_rows_,
                   " memory events, too many for the limit of ",
                   limit_bytes >> 20, " MiB; raise it with --max-memory-mb."));
}

namespace {

CompiledRequestId CompiledRequestFromStats(const StatSet& stats,
                                           const PlaneVocabulary& vocabulary,
                                           ReadContext* context) {
  const auto text = [&](StatKind kind) {
    return stats.Has(kind) ? vocabulary.TextOf(stats.Get(kind))
                           : std::string_view();
  };
  CompiledRequest request;
  request.function = context->Intern(text(StatKind::kCompiledFunction));
  request.module_name = context->Intern(text(StatKind::kHloModule));
  request.launch_op = context->Intern(text(StatKind::kLaunchOp));
  request.program_id = stats.Uint64Or(StatKind::kHloProgramId, 0);
  request.allocation = stats.Int64Or(StatKind::kBufferAllocation, -1);
  request.has_kind = stats.Has(StatKind::kBufferKind);
  request.kind = BufferKindOf(text(StatKind::kBufferKind));
  return context->trace().compiled_requests.Intern(request);
}

}  // namespace

AllocationSite SiteFromStats(const StatSet& stats,
                             const PlaneVocabulary& vocabulary,
                             AllocationSite base, ReadContext* context) {
  const auto text = [&](StatKind kind, StringId otherwise) {
    return stats.Has(kind) ? context->Intern(vocabulary.TextOf(stats.Get(kind)))
                           : otherwise;
  };
  base.op = text(StatKind::kOp, base.op);
  // TensorFlow says [0] of tensors whose shape it does not know yet.
  if (stats.Has(StatKind::kShape) &&
      !HasNoElements(vocabulary.TextOf(stats.Get(StatKind::kShape)))) {
    base.shape = text(StatKind::kShape, base.shape);
  }
  base.region_type = text(StatKind::kRegionType, base.region_type);
  base.dtype = DtypeOf(stats.Int64Or(StatKind::kDtype, base.dtype));
  if (stats.Has(StatKind::kEager)) {
    base.mode = stats.Get(StatKind::kEager).AsUint64() != 0 ? SiteMode::kEager
                                                            : SiteMode::kGraph;
  }
  if (stats.Has(StatKind::kStack)) {
    base.stack =
        context->trace().source.StackOf(stats.Get(StatKind::kStack).AsUint64());
  }
  if (stats.Has(StatKind::kCompiledFunction) ||
      stats.Has(StatKind::kHloModule)) {
    base.compiled = CompiledRequestFromStats(stats, vocabulary, context);
  }
  base.requested_bytes =
      stats.Uint64Or(StatKind::kRequestedBytes, base.requested_bytes);
  base.allocated_bytes =
      stats.Uint64Or(StatKind::kAllocatedBytes, base.allocated_bytes);
  if (base.op == kEmptyString && base.stack == kNoStack && base.compiled == 0) {
    base.stack = context->trace().source.StackOfSize(base.requested_bytes);
  }
  return base;
}

}  // namespace oom_forensics
