#include "core/placement.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/bfc.h"
#include "core/bfc_limit.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// What TensorFlow leaves of a device to contexts' growth and libraries, where
// the program sets no limit: of less than 2 GiB, else (MinSystemMemory in
// gpu_device.cc) 1,050 MiB for compute capability 7.x, 1,536 for 8.x and this
// for all later ones. The largest is taken: what cuDNN needs must stay.
constexpr uint64_t kSmallDeviceBytes = uint64_t{2048} << 20;
constexpr uint64_t kSmallReserveBytes = uint64_t{225} << 20;
constexpr uint64_t kReserveBytes = uint64_t{1800} << 20;

// Below this share of the shortfall a cause is not worth a line.
constexpr double kMinShare = 0.01;

double Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

// "2.00 GiB of its 80.0 GiB free"
std::string FreeOfDevice(const DeviceNumbers& device) {
  return FormatBytes(device.free_bytes) + " of its " +
         FormatBytes(device.total_bytes) + " free";
}

class Judge {
 public:
  explicit Judge(const PoolNumbers& pool)
      : pool_(pool),
        free_(pool.free.value_or(FreeSpace())),
        asked_(FormatBytes(pool.request_bytes)) {}

  PlacementVerdict Run() {
    verdict_.short_by_bytes = pool_.ShortByBytes();
    if (pool_.has_layout && !pool_.free.has_value()) {
      verdict_.sentence = "TensorFlow's allocator did not say what was free.";
      return std::move(verdict_);
    }
    // Without a layout the device tells more than a limit does.
    const bool has_numbers = pool_.has_layout || (pool_.limit_bytes != 0 &&
                                                  !pool_.device.has_value());
    if (verdict_.short_by_bytes != 0) {
      if (has_numbers) {
        AddPlacement();
      } else {
        AddFullDevice();
      }
    }
    if (has_numbers) {
      AddLimit();
      AddExternal();
    }
    PutFirst(has_numbers ? PrimaryKind() : "");
    if (verdict_.parts.empty()) {
      verdict_.sentence = WhyUnknown();
    } else {
      verdict_.kind = verdict_.parts.front().kind;
      verdict_.sentence = verdict_.parts.front().sentence;
    }
    return std::move(verdict_);
  }

 private:
  void Add(const char* kind, double share, std::string sentence) {
    if (share < kMinShare) return;
    verdict_.parts.push_back({kind, share, std::move(sentence)});
  }

  void AddPlacement() {
    const uint64_t short_by = verdict_.short_by_bytes;
    const uint64_t request = pool_.request_bytes;
    const uint64_t available = pool_.AvailableBytes();
    const uint64_t best = request - short_by;
    const uint64_t together = std::min(request, available);
    const uint64_t one_region = std::clamp(MostInOnePlace(), best, together);
    // Where the device is full, EXTERNAL says what was missing.
    Add("CAPACITY",
        pool_.DeviceIsFull() ? 0 : Share(request - together, short_by),
        "There was not enough memory: " + asked_ + " were asked for, " +
            FormatBytes(available) + " were left of " +
            FormatBytes(pool_.limit_bytes != 0 ? pool_.limit_bytes
                                               : pool_.reserved_bytes) +
            ", so at least " + FormatBytes(request - together) +
            " more had to be free.");
    const uint64_t growable = pool_.GrowableBytes();
    Add("FRAGMENTATION", Share(one_region - best, short_by),
        std::string(together == request
                        ? "Enough memory was free, but not in one piece: "
                        : "What was free was not in one piece either: ") +
            FormatBytes(free_.free_bytes) + " lay in " +
            CountOf(free_.free_chunk_count, "separate gap") +
            ", the largest of them " + FormatBytes(free_.largest_free_bytes) +
            (growable == 0 ? ""
                           : ", " + FormatBytes(growable) +
                                 " could still be taken from the device") +
            ", and " + asked_ + " need one piece.");
    Add("GROWTH_REGIONS", Share(together - one_region, short_by),
        "TensorFlow took its memory from the device in " +
            CountOf(free_.region_count, "separate piece") +
            " as the need grew, and no tensor can span two of them: of the " +
            FormatBytes(available) + " left in all, no piece has more than " +
            FormatBytes(MostInOnePlace()) + ".");
  }

  // Without a layout and a limit all that can be known is how full the device
  // was.
  void AddFullDevice() {
    if (!pool_.device.has_value() ||
        pool_.device->free_bytes >= pool_.request_bytes) {
      return;
    }
    const uint64_t others = pool_.device->others_bytes();
    const std::string full = "The device had " + FreeOfDevice(*pool_.device) +
                             ", and " + asked_ + " were asked for";
    if (others >= pool_.request_bytes) {
      Add("EXTERNAL", 1.0,
          full + "; other processes held " + pool_.device->OthersText() + ".");
    } else {
      Add("CAPACITY", 1.0, full + ".");
    }
  }

  void AddLimit() {
    if (verdict_.short_by_bytes == 0 || pool_.DeviceIsFull()) return;
    const std::string because =
        pool_.limit_setting.has_value()
            ? ", because " + pool_.limit_setting->text + " is set"
            : "";
    const uint64_t spare = pool_.SpareBytes();
    if (spare > pool_.GrowableBytes()) {
      Add("LIMIT", Share(spare, verdict_.short_by_bytes),
          "TensorFlow may use " + FormatBytes(pool_.limit_bytes) +
              " of this device, which could give " + FormatBytes(spare) +
              " more and still leave " +
              FormatBytes(pool_.device->free_bytes - spare) + " to libraries" +
              because + ".");
    } else if (pool_.limit_setting.has_value()) {
      Add("LIMIT", 1.0,
          "The pool may not grow beyond " + FormatBytes(pool_.limit_bytes) +
              because + ".");
    }
  }

  void AddExternal() {
    if (!pool_.DeviceIsFull() || verdict_.short_by_bytes == 0) return;
    Add("EXTERNAL", 1.0,
        "TensorFlow was still allowed to take " +
            FormatBytes(pool_.AllowedGrowthBytes()) +
            " from the device, but the device" +
            (pool_.device.has_value()
                 ? ", with " + FreeOfDevice(*pool_.device) + ","
                 : "") +
            " did not give it " + asked_ + " in one piece: " + WhoHolds());
  }

  // Who else holds the device, the largest first.
  std::string WhoHolds() const {
    const DeviceNumbers device = pool_.device.value_or(DeviceNumbers());
    std::vector<std::pair<uint64_t, std::string>> holders = {
        {device.sibling_bytes, "TensorFlow's other pools on this device hold " +
                                   FormatBytes(device.sibling_bytes)},
        {device.others_bytes(), "other processes hold " + device.OthersText()}};
    std::stable_sort(
        holders.begin(), holders.end(),
        [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (const auto& [bytes, who] : holders) {
      if (Share(bytes, verdict_.short_by_bytes) < kMinShare) continue;
      if (!text.empty()) text += ", ";
      text += who;
    }
    return (text.empty() ? "something else holds its memory" : text) + ".";
  }

  // What the best region could give if its free memory were one, or a new one.
  uint64_t MostInOnePlace() const {
    return std::max(free_.most_free_region_bytes, pool_.GrowableBytes());
  }

  bool HasPart(std::string_view kind) const {
    return std::any_of(
        verdict_.parts.begin(), verdict_.parts.end(),
        [kind](const PlacementPart& part) { return part.kind == kind; });
  }

  // The cause that a person should hear first. What is missing in all by a
  // crumb is missing because of the pieces.
  std::string_view PrimaryKind() const {
    if (pool_.DeviceIsFull()) return "EXTERNAL";
    if (HasPart("CAPACITY")) {
      return pool_.SpareBytes() > 0 &&
                     pool_.SpareBytes() >= verdict_.short_by_bytes
                 ? "LIMIT"
                 : "CAPACITY";
    }
    return HasPart("GROWTH_REGIONS") ? "GROWTH_REGIONS" : "FRAGMENTATION";
  }

  void PutFirst(std::string_view primary) {
    std::stable_sort(verdict_.parts.begin(), verdict_.parts.end(),
                     [primary](const PlacementPart& a, const PlacementPart& b) {
                       const auto rank = [primary](const PlacementPart& part) {
                         return part.kind == primary ? 2.0 : part.share;
                       };
                       return rank(a) > rank(b);
                     });
  }

  std::string WhyUnknown() const {
    if (pool_.has_layout) {
      return "When TensorFlow gave up, " +
             FormatBytes(free_.largest_free_bytes) +
             " lay free in one piece, enough for the " + asked_ +
             " that were asked for: memory may have been given back in that "
             "moment.";
    }
    return "The device's driver refused " + asked_ +
           "; how much was left, and in what pieces, it does not say.";
  }

  const PoolNumbers& pool_;
  const FreeSpace free_;
  const std::string asked_;
  PlacementVerdict verdict_;
};

}  // namespace

std::string DeviceNumbers::OthersText() const {
  const std::string total = FormatBytes(others_bytes());
  return others.empty() ? total : total + ": " + DescribeProcesses(others);
}

void PoolNumbers::LimitBy(std::string_view pool_name,
                          const std::vector<std::string>& environment) {
  std::optional<LimitSetting> setting =
      FindLimitSetting(pool_name, environment);
  if (!setting.has_value()) return;
  // Where both are known and the pool's own is the lower, that one binds.
  if (limit_bytes != 0 && limit_bytes < setting->bytes) return;
  limit_bytes = setting->bytes;
  limit_setting = std::move(setting);
}

uint64_t PoolNumbers::AllowedGrowthBytes() const {
  return RoundedDownBytes(limit_bytes - std::min(limit_bytes, reserved_bytes));
}

uint64_t PoolNumbers::GrowableBytes() const {
  const uint64_t allowed = AllowedGrowthBytes();
  if (!DeviceIsFull()) return allowed;
  return device.has_value()
             ? RoundedDownBytes(std::min(device->free_bytes, allowed))
             : 0;
}

uint64_t PoolNumbers::SpareBytes() const {
  if (!device.has_value()) return 0;
  // As TensorFlow saw the device when it made the pool.
  const uint64_t seen = device->free_bytes + reserved_bytes;
  const uint64_t kept =
      seen < kSmallDeviceBytes ? kSmallReserveBytes : kReserveBytes;
  return device->free_bytes - std::min(device->free_bytes, kept);
}

uint64_t PoolNumbers::AvailableBytes() const {
  return (free.has_value() ? free->free_bytes : 0) + GrowableBytes();
}

uint64_t PoolNumbers::ShortByBytes() const {
  const uint64_t best = std::max(
      free.has_value() ? free->largest_free_bytes : 0, GrowableBytes());
  return request_bytes > best ? request_bytes - best : 0;
}

PlacementVerdict JudgePlacement(const PoolNumbers& pool) {
  return Judge(pool).Run();
}

}  // namespace oom_forensics
