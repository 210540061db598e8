// What of the reading of frames can be tried without a Python; the rest is
// tried on real interpreters, in tests/in_training/layouts_test.py.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "collector/python/frame_layout.h"
#include "collector/python/frame_origin.h"
#include "collector/python/line_table.h"
#include "collector/python/memory_access.h"
#include "collector/python/stack_cache.h"
#include "collector/python/stack_taker.h"
#include "collector/python/text.h"

namespace oom_forensics::collector::python {
namespace {

int LineAt(const std::string& table, int instruction) {
  return LineOfInstruction(LineTableFormat::kLocations, table, 10, instruction);
}

TEST(LineTableTest, ReadsEveryKindOfLocation) {
  // Short form (kind 0), one instruction: the same line.
  std::string table = "\x80\x11";
  // One line further (kind 11), two instructions.
  table += "\xd9\x04\x05";
  // Without a line (kind 15), one instruction.
  table += "\xf8";
  // Long form (kind 14): three lines back, one instruction.
  table += "\xf0\x07\x01\x01\x01";
  // Without columns (kind 13): seventy lines further, in two varints.
  table += "\xe8";
  table += static_cast<char>(0x40 | (140 & 63));
  table += static_cast<char>(140 >> 6);
  EXPECT_EQ(LineAt(table, 0), 10);
  EXPECT_EQ(LineAt(table, 2), 11);
  EXPECT_EQ(LineAt(table, 4), 11);
  EXPECT_EQ(LineAt(table, 6), 0);
  EXPECT_EQ(LineAt(table, 8), 8);
  EXPECT_EQ(LineAt(table, 10), 78);
  EXPECT_EQ(LineAt(table, 12), 0) << "behind the last";
  EXPECT_EQ(LineAt(table, -2), 10) << "not begun";
  EXPECT_EQ(LineAt(table.substr(0, 8), 8), 8) << "a cut table ends somewhere";
}

TEST(LineTableTest, ReadsPairs) {
  const std::string table("\x04\x01\x02\x80\x06\xff", 6);
  const auto line_at = [&](int instruction) {
    return LineOfInstruction(LineTableFormat::kPairs, table, 10, instruction);
  };
  EXPECT_EQ(line_at(2), 11);
  EXPECT_EQ(line_at(4), 0);
  EXPECT_EQ(line_at(6), 10);
  EXPECT_EQ(line_at(12), 0);
}

TEST(TextTest, BecomesUtf8WhateverItsWidth) {
  EXPECT_EQ(TextState(1 << 2 | 1 << 5 | 1 << 6).ToUtf8("train"), "train");
  EXPECT_EQ(TextState(1 << 2 | 1 << 5).ToUtf8("pr\xfc"), "pr\xc3\xbc");
  EXPECT_EQ(TextState(2 << 2 | 1 << 5).ToUtf8(std::string("\xac\x20", 2)),
            "\xe2\x82\xac");
  EXPECT_EQ(TextState(4 << 2 | 1 << 5).ToUtf8(std::string("\x00\xf6\x01\0", 4)),
            "\xf0\x9f\x98\x80");
  EXPECT_EQ(TextState(2 << 2 | 1 << 5).ToUtf8(std::string("\x00\xd8", 2)), "?")
      << "a lone surrogate";
  EXPECT_FALSE(TextState(1 << 2).IsReadable())
      << "its characters lie elsewhere";
  EXPECT_FALSE(TextState(7 << 2 | 1 << 5).IsReadable());
}

TEST(CheckedMemoryTest, ReadsWhatIsThereAndNothingElse) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + 3 * page, page), 0);
  pages[2 * page] = 'x';
  const CheckedMemory memory;
  std::string read(2 * page, '\0');
  const auto address = reinterpret_cast<uint64_t>(pages);
  EXPECT_TRUE(memory.Read(address + page, read.data(), 2 * page));
  EXPECT_EQ(read[page], 'x');
  EXPECT_FALSE(memory.Read(address + 2 * page + 1, read.data(), page));
  EXPECT_FALSE(memory.Read(8, read.data(), 8));
  EXPECT_TRUE(memory.Read(address + 2 * page, read.data(), 1))
      << "after a failure, too";
  munmap(pages, 3 * page);
}

TEST(FrameOriginTest, TheLongestPrefixDecides) {
  const FrameOrigin origin({"/usr/lib/python3/", "/venv/lib/"},
                           {"/venv/lib/mine/"});
  EXPECT_TRUE(origin.IsLibrary("/venv/lib/keras/layer.py"));
  EXPECT_FALSE(origin.IsLibrary("/venv/lib/mine/model.py"));
  EXPECT_FALSE(origin.IsLibrary("/home/me/train.py"));
  EXPECT_FALSE(origin.IsLibrary("<stdin>"));
  EXPECT_TRUE(origin.IsLibrary("<frozen runpy>"));
}

TEST(FrameOriginTest, PrefixesAreSeparatedByColonsOrLines) {
  EXPECT_EQ(SplitPrefixes("/a:/b/\n\n:/c"),
            (std::vector<std::string>{"/a", "/b/", "/c"}));
  EXPECT_TRUE(SplitPrefixes("").empty());
}

TEST(StackCacheTest, GivesBackWhatWasPut) {
  StackCache cache;
  CachedStack found;
  EXPECT_FALSE(cache.Find({0, 0}, &found)) << "an empty slot is nobody's";
  cache.Put({17, 4}, {3, 99, 5});
  ASSERT_TRUE(cache.Find({17, 4}, &found));
  EXPECT_EQ(found.stack, 3u);
  EXPECT_EQ(found.checksum, 99u);
  EXPECT_EQ(found.checked_frames, 5u);
  EXPECT_FALSE(cache.Find({17, 5}, &found));
  cache.Put({17, 4}, {8, 1, 1});
  ASSERT_TRUE(cache.Find({17, 4}, &found));
  EXPECT_EQ(found.stack, 8u) << "the newer one counts";
}

TEST(StackCacheTest, ASlotThatIsWrittenMeanwhileIsAMissNeverAWrongStack) {
  StackCache cache;
  const auto work = [&cache](uint64_t thread) {
    for (uint64_t i = 1; i < 20'000; ++i) {
      // All in one place, where they take each other's slots.
      const uint64_t id = (i * 7 + thread) % 50 + 1;
      const StackKey key{id << 32, id * 3};
      CachedStack found;
      if (cache.Find(key, &found)) {
        ASSERT_EQ(found.stack, id);
        ASSERT_EQ(found.checksum, id * 5);
        ASSERT_EQ(found.checked_frames, id * 11);
      } else {
        cache.Put(key, {static_cast<StackId>(id), static_cast<uint32_t>(id * 5),
                        id * 11});
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(FrameLayoutTest, UnknownVersionsAreRefusedInASentence) {
  std::string why;
  EXPECT_FALSE(LayoutOf(0x030e00f0, nullptr, &why).has_value());
  EXPECT_EQ(why, "the frames of Python 3.14 are not known");
  EXPECT_FALSE(LayoutOf(0x030d00f0, nullptr, &why).has_value())
      << "3.13 has to say it itself";
  EXPECT_TRUE(LayoutOf(0x030c01f0, nullptr, &why).has_value());
}

TEST(StackTakerTest, IsOffWithoutAProof) {
  StackTable table;
  StackTaker taker(&table);
  EXPECT_EQ(taker.State(), "off: Python has not begun it");
  std::string no_thread(256, '\0');
  EXPECT_EQ(taker.Take(no_thread.data()), 0u);
  // A thread state that is none, and frames that nobody can read.
  const KnownFrame frames[] = {{1, 0, 1, "a", "b"}};
  EXPECT_NE(taker.Start(0x030b07f0, nullptr, no_thread.data(), frames, 1), "");
  EXPECT_EQ(taker.State().substr(0, 5), "off: ");
  EXPECT_EQ(taker.Take(no_thread.data()), 0u);
  EXPECT_EQ(table.dropped(), 0u);
}

}  // namespace
}  // namespace oom_forensics::collector::python
