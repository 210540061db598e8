#include "collector/library/got_patch.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace oom_forensics::collector {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kGlobDat = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kGlobDat = R_AARCH64_GLOB_DAT;
#endif
// A library whose pages are not read-only by then never will be: somebody else
// writes to them, and it is left alone.
constexpr int kMostLooks = 50;

// What a library imports, as its dynamic section tells it.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};
  size_t sizes[2] = {0, 0};
};

struct Library {
  uintptr_t base = 0;
  std::string_view path;
  // Loaded segments, and what is read-only after relocation.
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  uintptr_t relro_begin = 0;
  uintptr_t relro_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

Library Describe(const dl_phdr_info& info) {
  Library library;
  library.base = info.dlpi_addr;
  library.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_LOAD) {
      library.begin = std::min(library.begin, begin);
      library.end = std::max(library.end, end);
    } else if (header.p_type == PT_GNU_RELRO) {
      library.relro_begin = begin;
      library.relro_end = end;
    } else if (header.p_type == PT_DYNAMIC) {
      library.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    }
  }
  return library;
}

// False where it is not as expected.
bool ReadImports(const Library& library, Imports* imports) {
  if (library.dynamic == nullptr) return false;
  for (const ElfW(Dyn)* entry = library.dynamic; entry->d_tag != DT_NULL;
       ++entry) {
    // glibc has added the base to these already.
    switch (entry->d_tag) {
      case DT_SYMTAB:
        imports->symbols =
            reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
        break;
      case DT_STRTAB:
        imports->strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
        break;
      case DT_JMPREL:
        imports->tables[0] =
            reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        imports->sizes[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        imports->tables[1] =
            reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        imports->sizes[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_PLTREL:
        if (entry->d_un.d_val != DT_RELA) return false;
        break;
      default:
        break;
    }
  }
  const auto lies_inside = [&](const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    return address >= library.begin && address < library.end;
  };
  if (!lies_inside(imports->symbols) || !lies_inside(imports->strings)) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    if (!lies_inside(imports->tables[i])) imports->sizes[i] = 0;
  }
  return true;
}

uintptr_t PageOf(uintptr_t address) {
  static const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return address & ~(page_size - 1);
}

// The read-only memory of this process, as it is when the first library asks.
class ReadOnlyMemory {
 public:
  bool Contains(uintptr_t begin, uintptr_t end) {
    if (!was_read_) Read();
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                         [](uintptr_t address, const Range& range) {
                           return address < range.begin;
                         });
    return after != ranges_.begin() && (after - 1)->end >= end;
  }

 private:
  struct Range {
    uintptr_t begin;
    uintptr_t end;
  };

  void Read() {
    was_read_ = true;
    const std::unique_ptr<FILE, int (*)(FILE*)> maps(
        std::fopen("/proc/self/maps", "re"), &std::fclose);
    if (maps == nullptr) return;
    char line[512];
    bool is_start = true;
    while (std::fgets(line, sizeof(line), maps.get()) != nullptr) {
      Range range;
      char access[5];
      if (is_start &&
          std::sscanf(line, "%zx-%zx %4s", &range.begin, &range.end, access) ==
              3 &&
          access[0] == 'r' && access[1] == '-') {
        // Neighbours may be mappings of their own.
        if (!ranges_.empty() && ranges_.back().end == range.begin) {
          ranges_.back().end = range.end;
        } else {
          ranges_.push_back(range);
        }
      }
      // A path may be longer than the buffer.
      is_start = std::strchr(line, '\n') != nullptr;
    }
  }

  bool was_read_ = false;
  std::vector<Range> ranges_;
};

// Whether the loader is done with a library: it makes these pages, whole ones,
// read-only when it has written the last of the slots.
bool IsLoaded(const Library& library, ReadOnlyMemory* read_only) {
  const uintptr_t begin = PageOf(library.relro_begin);
  const uintptr_t end = PageOf(library.relro_end);
  return begin >= end || read_only->Contains(begin, end);
}

bool WriteSlot(const Library& library, void** slot, void* value) {
  const auto address = reinterpret_cast<uintptr_t>(slot);
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const bool read_only = address >= PageOf(library.relro_begin) &&
                         address < PageOf(library.relro_end);
  auto* const page = reinterpret_cast<void*>(PageOf(address));
  if (read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) mprotect(page, page_size, PROT_READ);
  return true;
}

size_t PatchLibrary(const Library& library,
                    const std::vector<ImportHook>& hooks) {
  Imports imports;
  if (!ReadImports(library, &imports)) return 0;
  size_t patched = 0;
  for (size_t table = 0; table < 2; ++table) {
    for (size_t i = 0; i < imports.sizes[table]; ++i) {
      const ElfW(Rela)& relocation = imports.tables[table][i];
      const uint32_t type = ELF64_R_TYPE(relocation.r_info);
      if (type != kJumpSlot && type != kGlobDat) continue;
      const uint32_t symbol = ELF64_R_SYM(relocation.r_info);
      const std::string_view name =
          imports.strings + imports.symbols[symbol].st_name;
      for (const ImportHook& hook : hooks) {
        if (hook.symbol != name || hook.original == nullptr) continue;
        auto** const slot =
            reinterpret_cast<void**>(library.base + relocation.r_offset);
        const auto bound = reinterpret_cast<uintptr_t>(*slot);
        // Not bound yet: it leads into the library's own code.
        const bool is_unbound =
            type == kJumpSlot && bound >= library.begin && bound < library.end;
        if (*slot != hook.original && !is_unbound) continue;
        if (WriteSlot(library, slot, hook.replacement)) ++patched;
      }
    }
  }
  return patched;
}

}  // namespace

void GotPatch::PatchNew() {
  const std::lock_guard<std::mutex> lock(mutex_);
  struct Look {
    GotPatch* self;
    ReadOnlyMemory read_only;
    uint64_t loads = 0;
    bool is_complete = true;
  } look = {this, {}};
  // The loader removes no library meanwhile.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* const look = static_cast<Look*>(argument);
        GotPatch* const self = look->self;
        look->loads = info->dlpi_adds;
        // The same for all that are loaded now.
        if (look->loads == self->seen_loads_) return 1;
        const Library library = Describe(*info);
        if (self->seen_.count(library.begin) != 0) return 0;
        const std::vector<ImportHook>* const hooks =
            self->hooks_of_(library.path);
        if (hooks != nullptr && !IsLoaded(library, &look->read_only)) {
          if (++self->unready_[library.begin] < kMostLooks) {
            look->is_complete = false;
            return 0;
          }
        } else if (hooks != nullptr) {
          self->slot_count_ += PatchLibrary(library, *hooks);
        }
        self->unready_.erase(library.begin);
        self->seen_.insert(library.begin);
        return 0;
      },
      &look);
  if (look.is_complete) seen_loads_ = look.loads;
}

}  // namespace oom_forensics::collector
