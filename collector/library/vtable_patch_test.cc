#include "collector/library/vtable_patch.h"

#include <gtest/gtest.h>

namespace oom_forensics::collector {
namespace {

class Animal {
 public:
  virtual ~Animal() = default;
  virtual int Legs(int extra) { return 4 + extra; }
  virtual int Eyes() { return 2; }
};

// Overrides Legs(), so that no compiler takes Animal's for the only one there
// is.
class Bird : public Animal {
 public:
  int Legs(int extra) override { return 2 + extra; }
  int Eyes() override { return 2; }
};

VTable VTableOf(Animal* animal) {
  return VTable{*reinterpret_cast<void***>(animal), 4};
}

using LegsFunction = int (*)(Animal* self, int extra);
LegsFunction g_original = nullptr;
int HookedLegs(Animal* self, int extra) {
  return 100 + g_original(self, extra);
}

// Calls that the compiler cannot see through.
[[gnu::noinline]] int CallLegs(Animal* animal) { return animal->Legs(1); }

TEST(FindSlotTest, FindsAFunctionByItsAddress) {
  Animal animal;
  const VTable vtable = VTableOf(&animal);
  for (size_t i = 0; i < vtable.slot_count; ++i) {
    EXPECT_EQ(FindSlot(vtable, vtable.slots[i]), i);
  }
}

TEST(FindSlotTest, RefusesAFunctionThatIsNotThereOrTwice) {
  int one = 1;
  int two = 2;
  void* slots[] = {&one, &two, &one};
  const VTable vtable{slots, 3};
  EXPECT_EQ(FindSlot(vtable, &two), 1u);
  EXPECT_EQ(FindSlot(vtable, &one), std::nullopt);
  EXPECT_EQ(FindSlot(vtable, &slots), std::nullopt);
  EXPECT_EQ(FindSlot(vtable, nullptr), std::nullopt);
}

TEST(VTablePatchTest, RedirectsVirtualCallsAndPutsThemBack) {
  auto animal = std::make_unique<Animal>();
  const VTable vtable = VTableOf(animal.get());
  constexpr size_t kLegs = 2;  // behind the two destructors
  g_original = reinterpret_cast<LegsFunction>(vtable.slots[kLegs]);
  EXPECT_EQ(CallLegs(animal.get()), 5);
  {
    const auto patch = VTablePatch::Install(
        vtable, kLegs, reinterpret_cast<void*>(&HookedLegs));
    ASSERT_TRUE(patch.has_value());
    EXPECT_EQ(CallLegs(animal.get()), 105);
    EXPECT_EQ(animal->Eyes(), 2);
  }
  EXPECT_EQ(CallLegs(animal.get()), 5);
}

TEST(VTablePatchTest, LeavesOtherClassesAlone) {
  auto animal = std::make_unique<Animal>();
  std::unique_ptr<Animal> bird = std::make_unique<Bird>();
  const VTable vtable = VTableOf(animal.get());
  g_original = reinterpret_cast<LegsFunction>(vtable.slots[2]);
  const auto patch =
      VTablePatch::Install(vtable, 2, reinterpret_cast<void*>(&HookedLegs));
  ASSERT_TRUE(patch.has_value());
  EXPECT_EQ(CallLegs(bird.get()), 3);
}

TEST(VTablePatchTest, DoesNotUndoWhatSomeoneElsePutThereLater) {
  int original = 1;
  int ours = 2;
  int theirs = 3;
  void* slots[] = {&original};
  {
    const auto patch = VTablePatch::Install(VTable{slots, 1}, 0, &ours);
    ASSERT_TRUE(patch.has_value());
    slots[0] = &theirs;
  }
  EXPECT_EQ(slots[0], &theirs);
}

}  // namespace
}  // namespace oom_forensics::collector
