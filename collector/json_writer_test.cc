#include "collector/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace oom_forensics::collector {
namespace {

TEST(JsonWriterTest, WritesNestedValuesWithCommas) {
  JsonWriter json;
  json.BeginObject();
  json.Field("op", "MatMul");
  json.Field("bytes", uint64_t{18446744073709551615u});
  json.Field("eager", true);
  json.Name("shape");
  json.BeginArray();
  json.Value(8);
  json.Value(16);
  json.EndArray();
  json.Name("empty");
  json.BeginObject();
  json.EndObject();
  json.EndObject();
  EXPECT_EQ(json.Take(),
            R"({"op":"MatMul","bytes":18446744073709551615,"eager":true,)"
            R"("shape":[8,16],"empty":{}})");
}

TEST(JsonWriterTest, EscapesWhatJsonCannotHold) {
  JsonWriter json;
  json.Value("a\"b\\c\nd");
  EXPECT_EQ(json.Take(), R"("a\"b\\c\u000ad")");
}

TEST(JsonWriterTest, WritesNullForNumbersThatJsonDoesNotHave) {
  JsonWriter json;
  json.BeginArray();
  json.Value(std::numeric_limits<double>::quiet_NaN());
  json.Value(0.5);
  json.EndArray();
  EXPECT_EQ(json.Take(), "[null,0.5]");
}

}  // namespace
}  // namespace oom_forensics::collector
