#include "collector/recording/allocator_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace oom_forensics::collector {
namespace {

AllocatorInfo Named(const char* name) {
  AllocatorInfo info;
  info.name = name;
  return info;
}

TEST(AllocatorTableTest, NumbersAllocatorsOfOneName) {
  AllocatorTable table;
  const int objects[2] = {};
  EXPECT_EQ(table.Find(&objects[0]), nullptr);
  EXPECT_EQ(table.Add(&objects[0], Named("Simple allocator"))->instance, 0);
  EXPECT_EQ(table.Add(&objects[1], Named("Simple allocator"))->instance, 1);
  EXPECT_EQ(table.Find(&objects[1])->id, 1);
}

TEST(AllocatorTableTest, LearnsTheDeviceBeforeOrAfterTheAllocator) {
  AllocatorTable table;
  const int objects[2] = {};
  table.NameDevice(&objects[0], "/device:XPU:0");
  table.Add(&objects[0], Named("early"));
  table.Add(&objects[1], Named("late"));
  EXPECT_EQ(table.Describe(1).device_name, "");
  EXPECT_EQ(table.Describe(0).cuda_device, -1);
  table.NameDevice(&objects[1], "/device:XPU:1", 3);
  EXPECT_EQ(table.Describe(1).cuda_device, 3);
  EXPECT_EQ(table.Describe(0).device_name, "/device:XPU:0");
  EXPECT_EQ(table.Describe(1).device_name, "/device:XPU:1");
}

TEST(AllocatorTableTest, ASlotIsTakenAgainOnceNoEventOfItIsKept) {
  AllocatorTable table;
  const int objects[kMaxAllocators + 2] = {};
  for (size_t i = 0; i < kMaxAllocators; ++i) {
    ASSERT_NE(table.Add(&objects[i], Named("pool")), nullptr);
  }
  const void* const late = &objects[kMaxAllocators];
  EXPECT_EQ(table.Add(late, Named("pool")), nullptr);
  EXPECT_TRUE(table.TurnsAway());
  EXPECT_EQ(table.unknown(), 2u);

  table.Forget(&objects[7]);
  table.Release(7, 100);
  EXPECT_FALSE(table.TurnsAway());
  EXPECT_EQ(table.Add(late, Named("pool"), 100), nullptr)
      << "an event of the old one may still be kept";
  const AllocatorInfo* added = table.Add(late, Named("pool"), 101);
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(added->id, 7);
  EXPECT_EQ(added->instance, static_cast<int>(kMaxAllocators))
      << "no two of a name have one number";
  EXPECT_EQ(table.Find(late), added);
  EXPECT_EQ(table.Add(&objects[kMaxAllocators + 1], Named("pool"), 1000),
            nullptr);
}

// Under the thread sanitizer: an object is not asked while it goes.
TEST(AllocatorTableTest, TheEndOfAnAllocatorWaitsForWhoAsksIt) {
  AllocatorTable table;
  std::atomic<bool> over{false};
  std::atomic<int> asked{0};
  std::thread asker([&] {
    while (!over) {
      const auto none_goes = table.KeepAll();
      for (size_t i = 0; i < table.size(); ++i) {
        if (auto* const object = static_cast<int*>(table.address(i))) {
          EXPECT_EQ(*object, 7);
          *object = 7;
          ++asked;
        }
      }
      // Who ends one may come in between.
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (int i = 0; i < 200 || asked < 20; ++i) {
    int* const object = new int(7);
    const AllocatorInfo* const added = table.Add(object, Named("pool"), 2);
    ASSERT_NE(added, nullptr);
    if (i % 10 == 0) std::this_thread::yield();
    table.Forget(object);
    *object = 0;
    delete object;
    table.Release(added->id, 1);
  }
  over = true;
  asker.join();
}

TEST(AllocatorTableTest, AForkedChildMayAskAtOnce) {
  AllocatorTable table;
  const int object = 0;
  table.Add(&object, Named("pool"));
  std::atomic<bool> over{false};
  std::thread asker([&] {
    while (!over) {
      { const auto none_goes = table.KeepAll(); }
      // Who ends one may come in between.
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (int i = 0; i < 20; ++i) {
    table.BeforeFork();
    const pid_t child = fork();
    table.AfterFork();
    if (child == 0) {
      table.AfterForkInChild();
      {
        const auto none_goes = table.KeepAll();
        table.Describe(0);
      }
      table.Forget(&object);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  over = true;
  asker.join();
}

TEST(AllocatorTableTest, AnObjectAtAForgottenPlaceIsAnotherOne) {
  AllocatorTable table;
  const int object = 0;
  table.NameDevice(&object, "/device:XPU:0");
  table.Forget(&object);
  EXPECT_EQ(table.Add(&object, Named("next"))->device_name, "");
}

}  // namespace
}  // namespace oom_forensics::collector
