#include "converter/compiled/compiled_blocks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/cancellation/cancellation.h"
#include "converter/compiled/chunk_parts.h"
#include "converter/compiled/fresh_results.h"
#include "converter/compiled/module_match.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

std::string BlockName(const HostTrace& trace, const CompiledRequest& request) {
  const std::string& function = trace.strings.Get(request.function);
  const std::string_view kind =
      request.has_kind ? BufferKindName(request.kind) : "block";
  return absl::StrCat(function.empty() ? "compiled" : function, "/xla_",
                      Absl(kind));
}

// The site of a request, with what is known of it now.
AllocationSite Named(AllocationSite site, const CompiledRequest& request,
                     HostTrace* trace) {
  site.compiled = trace->compiled_requests.Intern(request);
  site.op = trace->strings.Intern(BlockName(*trace, request));
  site.mode = SiteMode::kGraph;
  return site;
}

// Gives every request that the trace names the allocation that it is for.
void ResolveRecorded(const ModuleMatcher& matcher, HostTrace* trace) {
  const auto count = static_cast<SiteId>(trace->sites.size());
  std::vector<SiteId> renamed(count);
  bool any = false;
  for (SiteId id = 0; id < count; ++id) {
    const AllocationSite site = trace->sites.Get(id);
    renamed[id] = id;
    if (site.compiled == 0) continue;
    const CompiledRequest request =
        matcher.Resolve(*trace->CompiledOf(site), site.requested_bytes);
    renamed[id] = trace->sites.Intern(Named(site, request, trace));
    any = true;
  }
  if (!any) return;
  for (AllocatorTrace& allocator : trace->allocators) {
    std::vector<SiteId> sites = allocator.site.ToVector();
    for (Row row = 0; row < allocator.row_count(); ++row) {
      const RowKind kind = allocator.kind_of[row];
      if (kind == RowKind::kAlloc || kind == RowKind::kFailed) {
        sites[row] = renamed[sites[row]];
      }
    }
    allocator.site = std::move(sites);
  }
}

void Rename(const std::vector<RowMatch>& matches, AllocatorTrace* allocator,
            HostTrace* trace) {
  if (matches.empty()) return;
  std::vector<SiteId> sites = allocator->site.ToVector();
  for (const RowMatch& match : matches) {
    const AllocationSite site = trace->sites.Get(sites[match.row]);
    sites[match.row] = trace->sites.Intern(Named(site, match.request, trace));
  }
  allocator->site = std::move(sites);
}

// The parts of a block at its peak, as sites.
std::vector<SitePart> PartsOf(const AllocationSite& block,
                              const CompiledRequest& request,
                              const CompiledAllocation& allocation,
                              HostTrace* trace) {
  const std::string function = trace->strings.Get(request.function);
  std::vector<SitePart> parts;
  for (const ChunkPart& part :
       PartsOfChunk(block, function, allocation, allocation.peak)) {
    AllocationSite site;
    site.mode = SiteMode::kGraph;
    site.requested_bytes = part.requested_bytes;
    site.allocated_bytes = part.allocated_bytes;
    site.op = trace->strings.Intern(part.op_name);
    if (part.buffer != BlockPart::kUnused) {
      const CompiledBuffer& buffer = allocation.buffers[part.buffer];
      site.shape = trace->strings.Intern(buffer.shape);
      site.dtype = buffer.dtype;
    }
    parts.push_back(
        {trace->sites.Intern(site), part.offset_bytes, part.buffer});
  }
  return parts;
}

// Ops inside modules have the names that Python knows them by.
void MarkOptimizers(HostTrace* trace) {
  if (trace->source.empty()) return;
  for (CompiledModule& module : trace->modules) {
    for (CompiledAllocation& allocation : module.allocations) {
      for (CompiledBuffer& buffer : allocation.buffers) {
        const OpSource* source =
            trace->source.OpOf(trace->strings.Intern(buffer.op_name));
        buffer.of_optimizer = source != nullptr && source->of_optimizer;
      }
    }
  }
}

// Parts of all blocks together: far more than any real trace has.
constexpr uint64_t kMaxBlockParts = uint64_t{4} << 20;

void OpenBlocks(HostTrace* trace) {
  const auto count = static_cast<SiteId>(trace->sites.size());
  uint64_t parts_left = kMaxBlockParts;
  for (SiteId id = 0; id < count; ++id) {
    StopIfCancelled(id);
    const AllocationSite block = trace->sites.Get(id);
    const CompiledRequest* request = trace->CompiledOf(block);
    if (request == nullptr) continue;
    const CompiledAllocation* allocation = trace->AllocationOf(*request);
    if (allocation == nullptr || allocation->buffers.empty() ||
        allocation->size_bytes != block.requested_bytes ||
        block.allocated_bytes < block.requested_bytes) {
      continue;
    }
    if (allocation->buffers.size() > parts_left) {
      trace->quality.Add(QualityCounter::kModulesLeftOut);
      return;
    }
    parts_left -= allocation->buffers.size();
    std::vector<SitePart> parts = PartsOf(block, *request, *allocation, trace);
    if (!parts.empty()) trace->block_parts.emplace(id, std::move(parts));
  }
}

}  // namespace

void NameCompiledBlocks(HostTrace* trace) {
  if (trace->modules.empty() && trace->compiled_requests.size() == 0) return;
  const ModuleMatcher matcher(trace);
  ResolveRecorded(matcher, trace);
  for (AllocatorTrace& allocator : trace->allocators) {
    Rename(matcher.MatchRows(allocator), &allocator, trace);
    Rename(MatchFreshResults(*trace, allocator), &allocator, trace);
  }
  MarkOptimizers(trace);
  OpenBlocks(trace);
}

}  // namespace oom_forensics
