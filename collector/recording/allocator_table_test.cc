#include "collector/recording/allocator_table.h"

#include <gtest/gtest.h>

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
  table.NameDevice(&objects[1], "/device:XPU:1");
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

TEST(AllocatorTableTest, AnObjectAtAForgottenPlaceIsAnotherOne) {
  AllocatorTable table;
  const int object = 0;
  table.NameDevice(&object, "/device:XPU:0");
  table.Forget(&object);
  EXPECT_EQ(table.Add(&object, Named("next"))->device_name, "");
}

}  // namespace
}  // namespace oom_forensics::collector
