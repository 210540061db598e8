#include "collector/library/got_patch.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

// A library that every system has and this test does not use, and a function
// that it imports.
constexpr char kLibrary[] = "libm.so.6";

int g_calls = 0;
int Replacement() {
  ++g_calls;
  return 0;
}

void* Address(int (*function)()) { return reinterpret_cast<void*>(function); }

struct Relro {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The whole pages of a library that its loader makes read-only.
Relro RelroOf(const char* name) {
  struct Search {
    const char* name;
    Relro found;
  } search = {name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* const search = static_cast<Search*>(argument);
        if (std::strstr(info->dlpi_name, search->name) == nullptr) return 0;
        const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        for (size_t i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_GNU_RELRO) continue;
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          search->found = {begin & ~(page - 1),
                           (begin + header.p_memsz) & ~(page - 1)};
        }
        return 1;
      },
      &search);
  return search.found;
}

// The test's own program imports getppid(), which it calls by its table.
TEST(GotPatchTest, RedirectsWhatTheProgramImports) {
  const std::vector<ImportHook> hooks = {
      {"getppid", dlsym(RTLD_DEFAULT, "getppid"), Address(Replacement)}};
  GotPatch patch(
      [&](std::string_view path) { return path.empty() ? &hooks : nullptr; });
  const pid_t parent = getppid();
  ASSERT_NE(parent, 0);
  patch.PatchNew();
  EXPECT_GT(patch.slot_count(), 0U);
  EXPECT_EQ(getppid(), 0);
  EXPECT_EQ(g_calls, 1);
  const size_t slots = patch.slot_count();
  patch.PatchNew();
  EXPECT_EQ(patch.slot_count(), slots);
}

TEST(GotPatchTest, LeavesALibraryAloneWhoseLoaderStillWritesToIt) {
  const Relro relro = RelroOf(kLibrary);
  if (relro.begin >= relro.end) GTEST_SKIP() << kLibrary << " has no such page";
  auto* const pages = reinterpret_cast<void*>(relro.begin);
  const size_t bytes = relro.end - relro.begin;
  int asked = 0;
  const std::vector<ImportHook> hooks;
  GotPatch patch([&](std::string_view path) {
    const bool is_it = path.find(kLibrary) != std::string_view::npos;
    if (is_it) ++asked;
    return is_it ? &hooks : nullptr;
  });
  // As it is while a library is being loaded.
  ASSERT_EQ(mprotect(pages, bytes, PROT_READ | PROT_WRITE), 0);
  patch.PatchNew();
  patch.PatchNew();
  EXPECT_EQ(asked, 2) << "it is looked at again";
  ASSERT_EQ(mprotect(pages, bytes, PROT_READ), 0);
  patch.PatchNew();
  EXPECT_EQ(asked, 3);
  patch.PatchNew();
  EXPECT_EQ(asked, 3) << "it was ready, and is known";
}

}  // namespace
}  // namespace oom_forensics::collector
