#include "collector/recording/site_interner.h"

#include <cstring>

namespace oom_forensics::collector {
namespace {

constexpr size_t kFirstSlots = 4096;
// One site in so many is reserved for those of a name and sizes, and as many
// for those of sizes alone.
constexpr size_t kReservedShare = 8;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) *
                       (b ^ 0xd6e8feb86659fd93u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t HashText(std::string_view text, uint64_t seed) {
  uint64_t hash = Mix(seed, text.size());
  const char* data = text.data();
  size_t left = text.size();
  for (; left >= 8; data += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    hash = Mix(hash, word);
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, data, left);
    hash = Mix(hash, word);
  }
  return hash;
}

}  // namespace

bool SiteKey::operator==(const SiteKey& other) const {
  return requested_bytes == other.requested_bytes &&
         allocated_bytes == other.allocated_bytes && dtype == other.dtype &&
         mode == other.mode && stack == other.stack && op == other.op &&
         shape == other.shape && region_type == other.region_type &&
         compiled == other.compiled;
}

uint64_t SiteKey::Hash() const {
  uint64_t hash = Mix(requested_bytes, allocated_bytes);
  hash = Mix(hash, static_cast<uint64_t>(dtype) | static_cast<uint64_t>(mode)
                                                      << 32);
  hash = Mix(hash, stack);
  hash = HashText(op, hash);
  hash = HashText(shape, hash);
  hash = HashText(region_type, hash);
  if (compiled.empty()) return hash;
  hash = Mix(hash, static_cast<uint64_t>(compiled.program_id));
  hash = Mix(hash, static_cast<uint64_t>(compiled.buffer_allocation));
  hash = HashText(compiled.module, hash);
  return HashText(compiled.launch_op, hash);
}

struct SiteInterner::Slots {
  explicit Slots(size_t count)
      : mask(count - 1), sites(new std::atomic<const Site*>[count]()) {}
  const size_t mask;
  std::unique_ptr<std::atomic<const Site*>[]> sites;

  void Put(const Site* site) {
    size_t i = site->hash & mask;
    while (sites[i].load(std::memory_order_relaxed) != nullptr) {
      i = (i + 1) & mask;
    }
    sites[i].store(site, std::memory_order_release);
  }
};

SiteInterner::SiteInterner(size_t max_sites)
    : max_sites_(max_sites), reserved_sites_(max_sites / kReservedShare) {
  all_slots_.push_back(std::make_unique<Slots>(kFirstSlots));
  slots_.store(all_slots_.back().get(), std::memory_order_release);
}

SiteInterner::~SiteInterner() = default;

const Site* SiteInterner::Intern(const SiteKey& key) noexcept {
  if (const Site* site = FindOrInsert(key, max_sites_ - 2 * reserved_sites_)) {
    return site;
  }
  unnamed_.fetch_add(1, std::memory_order_relaxed);
  SiteKey named = key;
  named.shape = {};
  named.region_type = {};
  named.stack = 0;
  named.compiled = {};
  if (const Site* site = FindOrInsert(named, max_sites_ - reserved_sites_)) {
    return site;
  }
  SiteKey sizes;
  sizes.requested_bytes = key.requested_bytes;
  sizes.allocated_bytes = key.allocated_bytes;
  return FindOrInsert(sizes, max_sites_);
}

const Site* SiteInterner::FindOrInsert(const SiteKey& key,
                                       size_t limit) noexcept {
  const uint64_t hash = key.Hash();
  const Slots* slots = slots_.load(std::memory_order_acquire);
  if (const Site* site = Find(*slots, key, hash)) return site;
  // Without the lock: a full table is asked at every allocation.
  if (size_.load(std::memory_order_relaxed) >= limit) return nullptr;
  try {
    return Insert(key, hash, limit);
  } catch (...) {  // bad_alloc: the event goes uncounted by site, not the job
    return nullptr;
  }
}

const Site* SiteInterner::Find(const Slots& slots, const SiteKey& key,
                               uint64_t hash) const noexcept {
  for (size_t i = hash & slots.mask;; i = (i + 1) & slots.mask) {
    const Site* site = slots.sites[i].load(std::memory_order_acquire);
    if (site == nullptr) return nullptr;
    if (site->hash == hash && site->key == key) return site;
  }
}

const Site* SiteInterner::Insert(const SiteKey& key, uint64_t hash,
                                 size_t limit) {
  std::lock_guard<std::mutex> lock(mutex_);
  Slots* slots = slots_.load(std::memory_order_relaxed);
  if (const Site* site = Find(*slots, key, hash)) return site;
  if (sites_.size() >= limit) return nullptr;
  if ((sites_.size() + 1) * 2 > slots->mask + 1) {
    auto larger = std::make_unique<Slots>((slots->mask + 1) * 2);
    for (const Site& site : sites_) larger->Put(&site);
    slots = larger.get();
    all_slots_.push_back(std::move(larger));
    slots_.store(slots, std::memory_order_release);
  }
  Site site;
  site.id = static_cast<SiteId>(sites_.size() + 1);
  site.hash = hash;
  site.key = key;
  site.key.op = InternString(key.op);
  site.key.shape = InternString(key.shape);
  site.key.region_type = InternString(key.region_type);
  if (!key.compiled.empty()) {
    CompiledOrigin& compiled = site.key.compiled;
    compiled.function = InternString(compiled.function);
    compiled.module = InternString(compiled.module);
    compiled.launch_op = InternString(compiled.launch_op);
    compiled.buffer_kind = InternString(compiled.buffer_kind);
  }
  sites_.push_back(site);
  size_.store(sites_.size(), std::memory_order_relaxed);
  slots->Put(&sites_.back());
  return &sites_.back();
}

uint64_t SiteInterner::AllocatedBytesOf(SiteId id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return id == 0 || id > sites_.size() ? 0 : sites_[id - 1].key.allocated_bytes;
}

std::string_view SiteInterner::InternString(std::string_view text) {
  return *strings_.emplace(text).first;
}

std::vector<const Site*> SiteInterner::Snapshot() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<const Site*> sites;
  sites.reserve(sites_.size());
  for (const Site& site : sites_) sites.push_back(&site);
  return sites;
}

}  // namespace oom_forensics::collector
