#include "converter/render/opening_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace oom_forensics {
namespace {

Oom LongStory(int remedies) {
  Oom oom;
  oom.mutable_opening()->set_what_happened("model/dense asked for it.");
  oom.mutable_verdict()->set_kind("CAPACITY");
  oom.mutable_verdict()->set_sentence("There was not enough memory.");
  for (int i = 0; i < 3; ++i) {
    oom.mutable_opening()->add_holders("1.00 MiB in 1 tensor: Holder");
  }
  for (int i = 0; i < remedies; ++i) {
    Remedy* remedy = oom.add_remedies();
    remedy->set_title("Do this.");
    remedy->set_how_sure("enough alone");
    remedy->set_code("first line\nsecond line");
  }
  oom.mutable_opening()->set_remedies(remedies);
  return oom;
}

std::string Opening(const Oom& oom) {
  ReportParts parts;
  *parts.window.add_ooms() = oom;
  return RenderShortReport(parts);
}

TEST(OpeningTextTest, FitsIntoFifteenLinesWhateverTheCodeTakes) {
  for (int remedies = 0; remedies <= 3; ++remedies) {
    const std::string text = Opening(LongStory(remedies));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15) << text;
    EXPECT_EQ(text.find("1. Do this. [enough alone]") != std::string::npos,
              remedies > 0)
        << text;
    EXPECT_NE(text.find("Holder"), std::string::npos);
    EXPECT_NE(text.find("--full"), std::string::npos);
  }
}

TEST(OpeningTextTest, CodeIsWholeOrLeftOut) {
  const std::string text = Opening(LongStory(3));
  EXPECT_EQ(text.find("2. Do this."), text.rfind("2. Do this."));
  size_t first = 0;
  size_t second = 0;
  for (size_t at = text.find("first line"); at != std::string::npos;
       at = text.find("first line", at + 1)) {
    ++first;
  }
  for (size_t at = text.find("second line"); at != std::string::npos;
       at = text.find("second line", at + 1)) {
    ++second;
  }
  EXPECT_EQ(first, second);
}

TEST(OpeningTextTest, ControlCharactersOfATraceReachNoTerminal) {
  Oom oom = LongStory(1);
  oom.mutable_remedies(0)->set_title("\x1b[2J");
  oom.mutable_remedies(0)->set_code("\x1b[2J");
  oom.mutable_verdict()->set_sentence("\x1b[2J");
  EXPECT_EQ(Opening(oom).find('\x1b'), std::string::npos);
}

TEST(OpeningTextTest, ARunWithoutAnOomSaysSo) {
  const std::string text = RenderOpening(ReportParts());
  EXPECT_EQ(text.find("No OOM is recorded in this run."), size_t{0}) << text;
}

TEST(OpeningTextTest, ALibraryWithoutMemoryIsToldFirst) {
  ReportParts parts;
  LibraryFailure* const failure =
      parts.info.add_hosts()->mutable_library_failure();
  failure->set_library("cuDNN");
  failure->set_error("No DNN in stream executor. [Op:Conv2D]");
  failure->set_kind("OUTSIDE_POOL");
  failure->set_sentence("This was memory.");
  failure->set_remedy("Leave it 1.00 GiB.");
  EXPECT_EQ(RenderOpening(parts),
            "cuDNN failed: No DNN in stream executor. [Op:Conv2D]\n"
            "Why: OUTSIDE_POOL. This was memory.\n"
            "What to change: Leave it 1.00 GiB.\n");
}

}  // namespace
}  // namespace oom_forensics
