// SiteCache: the sites that a thread met last. Finding one here compares the
// texts of a key, where the SiteInterner has to hash them too; and it touches
// nothing that another thread writes.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_SITE_CACHE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_SITE_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/recording/site_interner.h"

namespace oom_forensics::collector {

// Belongs to one thread and one interner. Plain data without a destructor.
class SiteCache {
 public:
  // As SiteInterner::Intern().
  const Site* Intern(const SiteKey& key, SiteInterner* sites) noexcept {
    const Site*& place = places_[PlaceOf(key)];
    if (place != nullptr && place->key == key) return place;
    const Site* const site = sites->Intern(key);
    if (site != nullptr) place = site;
    return site;
  }

 private:
  // A thread of a training step meets some hundred sites: 8 KiB of places.
  static constexpr int kPlaceBits = 10;

  // TensorFlow's text of an op's name lies at the same address from step to
  // step. If it does not, the place is another one: the site is found anyhow.
  static size_t PlaceOf(const SiteKey& key) noexcept {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(key.op.data()) ^
                           key.requested_bytes * 0x9e3779b97f4a7c15u ^
                           uint64_t { key.stack } << 32;
    return (mixed * 0xd6e8feb86659fd93u) >> (64 - kPlaceBits);
  }

  std::array<const Site*, size_t{1} << kPlaceBits> places_ = {};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_SITE_CACHE_H_
