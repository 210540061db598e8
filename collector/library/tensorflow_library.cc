#include "collector/library/tensorflow_library.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <typeinfo>

namespace oom_forensics::collector {
namespace {

// The words of a library that are constant once it is loaded.
struct Words {
  void** begin = nullptr;
  void** end = nullptr;
};

// Those of the library that is loaded at `address`: virtual tables and type
// information lie there.
Words RelocatedConstants(uintptr_t address) {
  struct Search {
    uintptr_t address;
    Words found;
  } search = {address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        if (info->dlpi_addr != search->address) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_GNU_RELRO) continue;
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          const uintptr_t end = begin + header.p_filesz;
          search->found = {
              reinterpret_cast<void**>((begin + 7) & ~uintptr_t{7}),
              reinterpret_cast<void**>(end & ~uintptr_t{7})};
        }
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace

std::optional<TensorFlowLibrary> TensorFlowLibrary::Find(const char* name) {
  // RTLD_DEFAULT does not see it: Python loads TensorFlow with RTLD_LOCAL.
  void* handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return std::nullopt;
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return std::nullopt;
  return TensorFlowLibrary(handle, map);
}

void* TensorFlowLibrary::Symbol(const char* mangled_name) const {
  void* address = dlsym(handle_, mangled_name);
  if (address == nullptr) return nullptr;
  // dlsym() also searches the library's dependencies.
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0) {
    return nullptr;
  }
  return map == link_map_ ? address : nullptr;
}

VTable TensorFlowLibrary::FindVTable(const std::string& mangled_class) const {
  auto** table = static_cast<void**>(Symbol(("_ZTV" + mangled_class).c_str()));
  const void* type_info = Symbol(("_ZTI" + mangled_class).c_str());
  if (table == nullptr || type_info == nullptr) return {};
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(table, &info,
              const_cast<void**>(reinterpret_cast<const void**>(&symbol)),
              RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr || info.dli_saddr != table) {
    return {};
  }
  // [0] offset to top, [1] type info, then the slots.
  const size_t words = symbol->st_size / sizeof(void*);
  if (words < 3 || table[0] != nullptr || table[1] != type_info) return {};
  return VTable{table + 2, words - 2};
}

VTable TensorFlowLibrary::FindHiddenVTable(
    const std::string& mangled_class, const std::string& mangled_base) const {
  const VTable base = FindVTable(mangled_base);
  const void* base_info = Symbol(("_ZTI" + mangled_base).c_str());
  if (base.slots == nullptr) return {};
  // What the type information of every class with a single base begins with.
  struct Base {
    virtual ~Base() = default;
  };
  struct Derived : Base {};
  const void* const kind = *reinterpret_cast<void* const*>(&typeid(Derived));
  const Words words =
      RelocatedConstants(static_cast<const link_map*>(link_map_)->l_addr);
  const size_t table_words = base.slot_count + 2;
  void** type_info = nullptr;
  for (void** word = words.begin; word + 3 <= words.end; ++word) {
    if (word[0] != kind || word[2] != base_info) continue;
    // GCC marks names of unnamed namespaces: they are unique by address only.
    const char* name = static_cast<const char*>(word[1]);
    if (mangled_class == (*name == '*' ? name + 1 : name)) type_info = word;
  }
  if (type_info == nullptr) return {};
  for (void** word = words.begin; word + table_words <= words.end; ++word) {
    if (word[0] == nullptr && word[1] == type_info) {
      return VTable{word + 2, base.slot_count};
    }
  }
  return {};
}

VTable TensorFlowLibrary::FindCallSlot(const void* function) const {
  const auto* map = static_cast<const link_map*>(link_map_);
  const ElfW(Rela)* calls = nullptr;
  size_t bytes = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) {
      // The loader has made it an address.
      calls = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    } else if (entry->d_tag == DT_PLTRELSZ) {
      bytes = entry->d_un.d_val;
    } else if (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA) {
      return {};
    }
  }
  if (calls == nullptr || function == nullptr) return {};
  VTable found;
  for (size_t i = 0; i < bytes / sizeof(*calls); ++i) {
    if (ELF64_R_TYPE(calls[i].r_info) != R_X86_64_JUMP_SLOT) continue;
    auto** const slot =
        reinterpret_cast<void**>(map->l_addr + calls[i].r_offset);
    if (*slot != function) continue;
    if (found.slots != nullptr) return {};
    found = {slot, 1};
  }
  return found;
}

std::basic_string_view<unsigned char> TensorFlowLibrary::CodeOf(
    const char* mangled_name) const {
  const void* function = Symbol(mangled_name);
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (function == nullptr ||
      dladdr1(function, &info,
              const_cast<void**>(reinterpret_cast<const void**>(&symbol)),
              RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr || info.dli_saddr != function) {
    return {};
  }
  return {static_cast<const unsigned char*>(function), symbol->st_size};
}

bool TensorFlowLibrary::DerivesSinglyFrom(
    const VTable& vtable, const std::string& mangled_base) const {
  const auto* base = static_cast<const std::type_info*>(
      Symbol(("_ZTI" + mangled_base).c_str()));
  if (base == nullptr) return false;
  const auto* type = static_cast<const std::type_info*>(vtable.slots[-1]);
  while (type != nullptr && type != base) {
    // The type info of a class with a single base is of this class itself.
    const auto* derived = dynamic_cast<const abi::__si_class_type_info*>(type);
    type = derived == nullptr ? nullptr : derived->__base_type;
  }
  return type == base;
}

std::string TensorFlowLibrary::Version() const {
  // TF_Version() lives there, not in the framework library.
  void* handle = dlopen(kImplementation, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return "";
  const auto version =
      reinterpret_cast<const char* (*)()>(dlsym(handle, "TF_Version"));
  const std::string text = version == nullptr ? "" : version();
  dlclose(handle);
  return text;
}

}  // namespace oom_forensics::collector
