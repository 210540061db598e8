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

TEST(AllocatorTableTest, AnObjectAtAForgottenPlaceIsAnotherOne) {
  AllocatorTable table;
  const int object = 0;
  table.NameDevice(&object, "/device:XPU:0");
  table.Forget(&object);
  EXPECT_EQ(table.Add(&object, Named("next"))->device_name, "");
}

}  // namespace
}  // namespace oom_forensics::collector
