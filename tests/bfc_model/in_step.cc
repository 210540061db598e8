// Drives a real tsl::BFCAllocator and BfcModel in step: the same requests, the
// same releases, the same memory that grants, refuses and places regions. Every
// address and every refusal must be equal, and again and again the whole pools.
//
//   in_step OPERATIONS [FIRST_SEED [COLLECTOR]]
//
// With the collector's library its hooks are in place, and a thread asks it all
// the time for the state of the allocators, which come and go meanwhile.
//
// Built by tools/try_bfc_model against an installed TensorFlow, whose allocator
// it is. The memory is never touched, so that its addresses can be anything.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/pluggable_profiler_api.h"
#include "converter/bfc/bfc_model.h"
#include "tests/bfc_model/system_memory.h"
#if __has_include("xla/tsl/framework/bfc_allocator.h")
#include "xla/tsl/framework/bfc_allocator.h"
#else
#include "tsl/framework/bfc_allocator.h"
#endif

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Above it TensorFlow's region size overflows and it runs for ever.
constexpr uint64_t kLargestNextRegionBytes = uint64_t{1} << 60;

// TensorFlow 2.15 asks for less only once.
template <typename Allocator>
constexpr auto AsksForLessOnlyOnce(int)
    -> decltype(Allocator::started_backpedal_) {
  return true;
}
template <typename>
constexpr bool AsksForLessOnlyOnce(...) {
  return false;
}

struct Case {
  BfcSettings settings;
  SystemMemory::Character memory;
  bool timed = false;
  uint64_t largest_request_bytes = 0;
  // Of 100 operations, about so many are requests.
  uint64_t requests = 50;

  static Case Random(class Random& random) {
    Case made;
    const uint64_t limit_bytes =
        random.OneOf<uint64_t>({3000, 64 << 10, kMiB, 5 * kMiB, 48 * kMiB,
                                256 * kMiB, 700 * kMiB, 3072 * kMiB}) +
        (random.OneIn(2) ? 0 : random.Below(100000));
    made.settings.limit_bytes = limit_bytes;
    made.settings.asks_for_less_only_once =
        AsksForLessOnlyOnce<tsl::BFCAllocator>(0);
    made.settings.allow_growth = !random.OneIn(4);
    made.settings.fragmentation_fraction =
        random.OneOf<double>({0, 0, 0, 0.003, 0.1, 0.5, 1.0});
    made.settings.merges_regions = random.OneIn(3);
    made.timed = random.OneIn(4);
    // With both, TensorFlow looks for regions that it has given back.
    made.settings.garbage_collection = !made.timed && random.OneIn(2);
    if (random.OneIn(3)) {
      made.memory.capacity_bytes =
          limit_bytes / 8 + random.Below(limit_bytes + 1);
    }
    if (random.OneIn(8)) made.memory.granularity_bytes = 65536;
    if (random.OneIn(2)) made.memory.touching = random.OneOf({1, 3, 4});
    made.largest_request_bytes =
        1 + limit_bytes / random.OneOf<uint64_t>({1, 4, 30, 1000});
    made.requests = random.OneOf<uint64_t>({48, 52, 60});
    return made;
  }
};

// One real allocator and one model.
class Pair {
 public:
  Pair(uint64_t seed, const Case& the_case)
      : case_(the_case),
        random_(seed ^ 0x5eed),
        real_memory_(seed, the_case.memory),
        model_memory_(seed, the_case.memory),
        source_(&model_memory_) {
    tsl::BFCAllocator::Options options;
    options.allow_growth = case_.settings.allow_growth;
    options.garbage_collection = case_.settings.garbage_collection;
    options.fragmentation_fraction = case_.settings.fragmentation_fraction;
    real_ = std::make_unique<tsl::BFCAllocator>(
        std::make_unique<RealSource>(&real_memory_,
                                     case_.settings.merges_regions),
        case_.settings.limit_bytes, "in_step", options);
    if (case_.timed) real_->SetTimingCounter(&counter_);
    model_ = std::make_unique<BfcModel>(case_.settings, &source_);
  }

  // False: the two differ, and `what` says in what.
  bool Run(uint64_t operations, std::string* what) {
    for (uint64_t i = 0; i < operations; ++i) {
      if (model_->next_region_bytes() > kLargestNextRegionBytes) break;
      const bool alike = Step(what);
      if (!alike || (random_.OneIn(64) && !SamePools(what))) {
        *what += " after " + std::to_string(i) + " operations";
        return false;
      }
      if (random_.OneIn(500)) StartAnew();
      if (random_.OneIn(100) && !case_.timed) TryAndGoBack();
    }
    return SamePools(what);
  }

 private:
  struct Live {
    void* address;
    ChunkId chunk;
  };

  bool Step(std::string* what) {
    if (case_.timed && random_.OneIn(20)) {
      const uint64_t count = Count();
      real_->SetSafeFrontier(count);
      model_->SetSafeFrontier(count);
    }
    // Now and then all of it is released, as between two steps of a job.
    if (random_.OneIn(3000)) {
      while (!live_.empty()) FreeOne();
      return true;
    }
    if (live_.empty() || random_.Below(100) < case_.requests) {
      return AllocateOne(what);
    }
    FreeOne();
    return true;
  }

  uint64_t RequestBytes() {
    const uint64_t most = case_.largest_request_bytes;
    switch (random_.Below(8)) {
      case 0:
        return random_.Below(600);
      case 1:
        return random_.OneOf<uint64_t>({0, 256, 257, 512, 4096, 65536});
      case 2:
        return random_.Below(most) + 1;
      case 3: {
        // About what another one holds, so that holes are filled.
        if (live_.empty()) return 1;
        const uint64_t held =
            model_->chunk(live_[random_.Below(live_.size())].chunk).size_bytes;
        return held - std::min(held, random_.Below(3) * 256);
      }
      case 4:
        return random_.OneIn(50) ? case_.settings.limit_bytes
                                 : random_.Below(most / 3 + 1) + 1;
      default:
        return random_.Below(most / (1 + random_.Below(64)) + 1) + 1;
    }
  }

  bool AllocateOne(std::string* what) {
    const uint64_t bytes = RequestBytes();
    uint64_t freed_before = 0;
    if (case_.timed && random_.OneIn(3)) {
      freed_before = random_.Below(Count() + 1);
    }
    std::function<uint64_t()> freed_by = [&] { return freed_before; };
    const tsl::AllocationAttributes attributes(
        false, false, freed_before != 0 ? &freed_by : nullptr);
    const size_t alignment = size_t{64} << random_.Below(5);
    void* const real = real_->AllocateRaw(alignment, bytes, attributes);
    const ChunkId chunk = model_->Allocate(bytes, freed_before);
    void* const model =
        chunk == kNoChunk
            ? nullptr
            : reinterpret_cast<void*>(model_->chunk(chunk).address);
    if (real != model) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "a request of %llu bytes: %p in TensorFlow, %p here",
                    static_cast<unsigned long long>(bytes), real, model);
      *what = text;
      return false;
    }
    if (real != nullptr) live_.push_back({real, chunk});
    return true;
  }

  void FreeOne() {
    std::swap(live_[random_.Below(live_.size())], live_.back());
    real_->DeallocateRaw(live_.back().address);
    model_->Free(live_.back().chunk, case_.timed ? Count() : 0);
    live_.pop_back();
  }

  uint64_t Count() { return static_cast<uint64_t>(counter_.get()); }

  // The access control of the real one is off (-fno-access-control).
  bool SamePools(std::string* what) const {
    const auto differ = [what](const char* name, uint64_t real,
                               uint64_t model) {
      if (real == model) return false;
      *what = std::string(name) + ": " + std::to_string(real) +
              " in TensorFlow, " + std::to_string(model) + " here";
      return true;
    };
    const tsl::BFCAllocator& real = *real_;
    const std::vector<BfcRegion> regions = model_->Regions();
    const auto& real_regions = real.region_manager_.regions();
    if (differ("reserved bytes", *real.stats_.pool_bytes,
               model_->reserved_bytes()) ||
        differ("bytes in use", real.stats_.bytes_in_use,
               model_->in_use_bytes()) ||
        differ("bytes of the next region", real.curr_region_allocation_bytes_,
               model_->next_region_bytes()) ||
        differ("largest free chunk", real_->LargestFreeChunk(),
               model_->largest_free_bytes()) ||
        differ("regions", real_regions.size(), regions.size())) {
      return false;
    }
    const std::vector<ChunkId> chunks = model_->ChunksInOrder();
    size_t at = 0;
    for (size_t i = 0; i < regions.size(); ++i) {
      const auto& region = real_regions[i];
      if (differ("a region's address", reinterpret_cast<uint64_t>(region.ptr()),
                 regions[i].address) ||
          differ("a region's size", region.memory_size(),
                 regions[i].size_bytes)) {
        return false;
      }
      for (auto h = region.get_handle(region.ptr());
           h != tsl::BFCAllocator::kInvalidChunkHandle; ++at) {
        const auto& chunk = real.chunks_[h];
        if (at == chunks.size()) {
          *what = "fewer chunks than in TensorFlow";
          return false;
        }
        const PoolChunk& model = model_->chunk(chunks[at]);
        if (differ("a chunk's address", reinterpret_cast<uint64_t>(chunk.ptr),
                   model.address) ||
            differ("a chunk's size", chunk.size, model.size_bytes) ||
            differ("a chunk in use", chunk.in_use(),
                   model.state == PoolChunk::State::kInUse)) {
          return false;
        }
        h = chunk.next;
      }
    }
    return !differ("chunks", at, chunks.size());
  }

  // A model that is made from the pool as it stands goes on like the old one.
  void StartAnew() {
    if (case_.timed || case_.memory.granularity_bytes != 256 ||
        case_.settings.asks_for_less_only_once) {
      return;
    }
    std::vector<BfcChunk> chunks;
    std::map<uint64_t, ChunkId> at;
    for (const ChunkId id : model_->ChunksInOrder()) {
      const PoolChunk& chunk = model_->chunk(id);
      at[chunk.address] = static_cast<ChunkId>(chunks.size());
      chunks.push_back({chunk.address, chunk.size_bytes,
                        chunk.state == PoolChunk::State::kInUse});
      // As pieces, too.
      if (!chunks.back().in_use && chunk.size_bytes > 512) {
        const uint64_t cut = chunk.size_bytes / 512 * 256;
        chunks.back().size_bytes = cut;
        chunks.push_back({chunk.address + cut, chunk.size_bytes - cut, false});
      }
    }
    model_ =
        std::make_unique<BfcModel>(case_.settings, &source_, model_->Regions(),
                                   chunks, model_->next_region_bytes());
    for (Live& live : live_) {
      live.chunk = at.at(reinterpret_cast<uint64_t>(live.address));
    }
  }

  // What was tried and taken back leaves no trace.
  void TryAndGoBack() {
    source_.set_only_tries(true);
    model_->KeepJournal();
    model_->ForgetPast();
    const BfcModel::Moment before = model_->Now();
    std::vector<ChunkId> tried;
    for (const Live& live : live_) tried.push_back(live.chunk);
    for (uint64_t i = random_.Below(30); i > 0; --i) {
      if (!tried.empty() && random_.OneIn(2)) {
        std::swap(tried[random_.Below(tried.size())], tried.back());
        model_->Free(tried.back());
        tried.pop_back();
      } else {
        const ChunkId chunk = model_->Allocate(RequestBytes());
        if (chunk != kNoChunk) tried.push_back(chunk);
      }
    }
    model_->GoBack(before);
    source_.set_only_tries(false);
  }

  const Case case_;
  Random random_;
  SystemMemory real_memory_;
  SystemMemory model_memory_;
  tsl::SharedCounter counter_;
  std::unique_ptr<tsl::BFCAllocator> real_;
  ModelSource source_;
  std::unique_ptr<BfcModel> model_;
  std::vector<Live> live_;
};

// The collector in this process, asked without an end.
class AskedCollector {
 public:
  explicit AskedCollector(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::printf("%s\n", dlerror());
      std::exit(1);
    }
    const auto load = reinterpret_cast<decltype(&TF_InitProfiler)>(
        dlsym(library, "TF_InitProfiler"));
    stats_ = reinterpret_cast<char* (*)()>(
        dlsym(library, "OomForensics_MemoryStats"));
    configure_ = reinterpret_cast<char* (*)(const char*, const char*)>(
        dlsym(library, "OomForensics_Configure"));
    TP_Profiler profiler = {sizeof(TP_Profiler)};
    TP_ProfilerFns functions = {sizeof(TP_ProfilerFns)};
    TF_ProfilerRegistrationParams params = {
        sizeof(TF_ProfilerRegistrationParams)};
    params.profiler = &profiler;
    params.profiler_fns = &functions;
    load(&params, nullptr);
    thread_ = std::thread([this] {
      while (!over_) Ask();
    });
  }
  // How often it told of an allocator that was alive.
  uint64_t End() {
    over_ = true;
    thread_.join();
    return told_;
  }

 private:
  void Ask() {
    // Allocators end while the hooks are out, too.
    std::free(configure_("enabled", ++asked_ % 64 < 48 ? "1" : "0"));
    char* const stats = stats_();
    if (std::string(stats).find("limit_bytes") != std::string::npos) ++told_;
    std::free(stats);
  }

  char* (*stats_)() = nullptr;
  char* (*configure_)(const char* name, const char* value) = nullptr;
  uint64_t asked_ = 0;
  std::atomic<bool> over_{false};
  uint64_t told_ = 0;
  std::thread thread_;
};

int Main(int argc, char** argv) {
  std::unique_ptr<AskedCollector> collector;
  if (argc > 3) collector = std::make_unique<AskedCollector>(argv[3]);
  const uint64_t operations =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  constexpr uint64_t kOperationsPerCase = 5000;
  for (uint64_t done = 0; done < operations;
       done += kOperationsPerCase, ++seed) {
    Random random(seed);
    const Case the_case = Case::Random(random);
    std::string what;
    if (!Pair(seed, the_case).Run(kOperationsPerCase, &what)) {
      std::printf(
          "seed %llu (limit %llu, growth %d, garbage collection %d, "
          "fragmentation fraction %g, merges %d, timed %d): %s\n",
          static_cast<unsigned long long>(seed),
          static_cast<unsigned long long>(the_case.settings.limit_bytes),
          the_case.settings.allow_growth, the_case.settings.garbage_collection,
          the_case.settings.fragmentation_fraction,
          the_case.settings.merges_regions, the_case.timed, what.c_str());
      return 1;
    }
  }
  std::printf("%llu operations alike\n",
              static_cast<unsigned long long>(operations));
  if (collector != nullptr) {
    std::printf("told %llu times\n",
                static_cast<unsigned long long>(collector->End()));
  }
  return 0;
}

}  // namespace
}  // namespace oom_forensics

int main(int argc, char** argv) { return oom_forensics::Main(argc, argv); }
