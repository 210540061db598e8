#include "collector/library/vtable_patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace oom_forensics::collector {
namespace {

// The protection of the mapping that `address` lies in, as the kernel lists it;
// -1 if it is in none. Virtual tables are usually read-only after relocation,
// but not in every build: what was there is what is restored.
int ProtectionOf(uintptr_t address) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return -1;
  int protection = -1;
  uintptr_t begin;
  uintptr_t end;
  char flags[5];
  while (std::fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %4s%*[^\n]", &begin, &end,
                     flags) == 3) {
    if (address < begin || address >= end) continue;
    protection = (flags[0] == 'r' ? PROT_READ : 0) |
                 (flags[1] == 'w' ? PROT_WRITE : 0) |
                 (flags[2] == 'x' ? PROT_EXEC : 0);
    break;
  }
  std::fclose(maps);
  return protection;
}

// Writes one pointer to a page that may be read-only. Other threads may call
// through the slot meanwhile: they see the old or the new pointer.
bool WritePointer(void** slot, void* value) {
  const auto address = reinterpret_cast<uintptr_t>(slot);
  const int protection = ProtectionOf(address);
  if (protection < 0) return false;
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* page = reinterpret_cast<void*>(address & ~(page_size - 1));
  if (mprotect(page, page_size, protection | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  mprotect(page, page_size, protection);
  return true;
}

}  // namespace

std::optional<size_t> FindSlot(const VTable& table, const void* function) {
  std::optional<size_t> found;
  if (function == nullptr) return found;
  for (size_t i = 0; i < table.slot_count; ++i) {
    if (table.slots[i] != function) continue;
    if (found.has_value()) return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<VTablePatch> VTablePatch::Install(const VTable& table,
                                                size_t slot,
                                                void* replacement) {
  void** place = table.slots + slot;
  void* original = *place;
  if (!WritePointer(place, replacement)) return std::nullopt;
  return VTablePatch(place, original, replacement);
}

VTablePatch::VTablePatch(VTablePatch&& other) noexcept
    : slot_(other.slot_),
      original_(other.original_),
      replacement_(other.replacement_) {
  other.slot_ = nullptr;
}

VTablePatch::~VTablePatch() {
  if (slot_ == nullptr) return;
  if (__atomic_load_n(slot_, __ATOMIC_ACQUIRE) != replacement_) return;
  WritePointer(slot_, original_);
}

}  // namespace oom_forensics::collector
