#include "collector/cupti/cupti_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace oom_forensics::cupti {
namespace {

// The real libcupti, on a machine without a GPU.
std::optional<CuptiLibrary> RealCupti() {
  std::string why;
  return CuptiLibrary::OpenPath(std::getenv("LIBCUPTI"), &why);
}

TEST(CuptiLibraryTest, OpensTheRealLibrary) {
  const auto cupti = RealCupti();
  ASSERT_TRUE(cupti.has_value());
  EXPECT_EQ(cupti->version(), uint32_t{CUPTI_API_VERSION});
  EXPECT_NE(cupti->next_record().function, nullptr);
}

TEST(CuptiLibraryTest, ReadsItsClock) {
  const auto cupti = RealCupti();
  ASSERT_TRUE(cupti.has_value());
  int64_t first_ns = 0;
  int64_t second_ns = 0;
  EXPECT_TRUE(cupti->ReadClock(&first_ns));
  EXPECT_TRUE(cupti->ReadClock(&second_ns));
  EXPECT_GE(second_ns, first_ns);
}

TEST(CuptiLibraryTest, NamesAnAnswer) {
  const auto cupti = RealCupti();
  ASSERT_TRUE(cupti.has_value());
  EXPECT_EQ(cupti->NameOf(CUPTI_ERROR_NOT_INITIALIZED),
            "CUPTI_ERROR_NOT_INITIALIZED");
  EXPECT_EQ(cupti->NameOf(static_cast<CUptiResult>(54321)),
            "CUPTI error 54321");
}

TEST(CuptiLibraryTest, SaysThatThereIsNone) {
  std::string why;
  EXPECT_FALSE(CuptiLibrary::OpenPath("/nowhere/libcupti.so.12", &why));
  EXPECT_EQ(why, "/nowhere/libcupti.so.12 cannot be opened");
}

TEST(CuptiLibraryTest, RefusesALibraryThatIsNotCupti) {
  std::string why;
  EXPECT_FALSE(CuptiLibrary::OpenPath("libm.so.6", &why));
  EXPECT_EQ(why, "libcupti lacks a function that is needed");
}

TEST(CuptiLibraryTest, FindsTheOneThatIsLoaded) {
  // Its soname is what the search knows it by.
  ASSERT_TRUE(RealCupti().has_value());
  const auto loaded = CuptiLibrary::FindLoaded();
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->version(), RealCupti()->version());
}

}  // namespace
}  // namespace oom_forensics::cupti
