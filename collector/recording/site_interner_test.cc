#include "collector/recording/site_interner.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace oom_forensics::collector {
namespace {

SiteKey MakeKey(std::string_view op, uint64_t bytes) {
  SiteKey key;
  key.op = op;
  key.shape = "[8,16]";
  key.region_type = "output";
  key.dtype = 1;
  key.requested_bytes = bytes;
  key.allocated_bytes = bytes;
  return key;
}

TEST(SiteInternerTest, GivesOneIdToOneSite) {
  SiteInterner table;
  const Site* first = table.Intern(MakeKey("MatMul", 512));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->id, 1u);
  EXPECT_EQ(table.Intern(MakeKey("MatMul", 512)), first);
}

TEST(SiteInternerTest, TellsSitesApartByEveryField) {
  SiteInterner table;
  std::set<SiteId> ids;
  SiteKey key = MakeKey("MatMul", 512);
  ids.insert(table.Intern(key)->id);
  key.op = "Relu";
  ids.insert(table.Intern(key)->id);
  key.shape = "[16,8]";
  ids.insert(table.Intern(key)->id);
  key.region_type = "temp";
  ids.insert(table.Intern(key)->id);
  key.dtype = 3;
  ids.insert(table.Intern(key)->id);
  key.requested_bytes = 500;
  ids.insert(table.Intern(key)->id);
  key.allocated_bytes = 1024;
  ids.insert(table.Intern(key)->id);
  EXPECT_EQ(ids.size(), 7u);
}

TEST(SiteInternerTest, KeepsItsOwnCopyOfNames) {
  SiteInterner table;
  std::string op = "sequential/dense/MatMul";
  const Site* site = table.Intern(MakeKey(op, 512));
  op.assign(op.size(), 'x');
  EXPECT_EQ(site->key.op, "sequential/dense/MatMul");
}

TEST(SiteInternerTest, SaysLessAndLessOfNewOnesWhenItIsFull) {
  SiteInterner table(8);
  const Site* first = table.Intern(MakeKey("0", 1));
  for (int i = 1; i < 6; ++i) {
    ASSERT_NE(table.Intern(MakeKey(std::to_string(i), 1)), nullptr);
  }
  EXPECT_EQ(table.unnamed(), 0u);
  // The last but one place is for a name and sizes.
  SiteKey key = MakeKey("another", 1);
  key.stack = 7;
  const Site* named = table.Intern(key);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->key.op, "another");
  EXPECT_EQ(named->key.shape, "");
  EXPECT_EQ(named->key.stack, 0u);
  key.stack = 8;
  EXPECT_EQ(table.Intern(key), named);
  // The last place is for sizes alone.
  const Site* unnamed = table.Intern(MakeKey("one more", 1));
  ASSERT_NE(unnamed, nullptr);
  EXPECT_EQ(unnamed->key.op, "");
  EXPECT_EQ(unnamed->key.requested_bytes, 1u);
  EXPECT_EQ(table.Intern(MakeKey("and one more", 1)), unnamed);
  EXPECT_EQ(table.Intern(MakeKey("of another size", 2)), nullptr);
  EXPECT_EQ(table.unnamed(), 5u);
  EXPECT_EQ(table.Intern(MakeKey("0", 1)), first);
}

TEST(SiteInternerTest, GivesAllThreadsTheSameIdsWhileItGrows) {
  constexpr uint64_t kSites = 20'000;
  SiteInterner table;
  std::vector<std::vector<SiteId>> ids(4);
  std::vector<std::thread> threads;
  for (std::vector<SiteId>& own : ids) {
    threads.emplace_back([&table, &own] {
      for (uint64_t i = 0; i < kSites; ++i) {
        own.push_back(
            table.Intern(MakeKey("op" + std::to_string(i % 100), i))->id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<SiteId>& own : ids) EXPECT_EQ(own, ids[0]);
  const std::vector<const Site*> sites = table.Snapshot();
  ASSERT_EQ(sites.size(), kSites);
  for (size_t i = 0; i < sites.size(); ++i) EXPECT_EQ(sites[i]->id, i + 1);
}

}  // namespace
}  // namespace oom_forensics::collector
