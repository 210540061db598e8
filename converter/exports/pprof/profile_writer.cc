#include "converter/exports/pprof/profile_writer.h"

#include <protozero/pbf_builder.hpp>

namespace oom_forensics {
namespace {

// Field numbers of perftools.profiles.
enum class Profile : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum class ValueTypeField : protozero::pbf_tag_type { kType = 1, kUnit = 2 };
enum class SampleField : protozero::pbf_tag_type {
  kLocationId = 1,
  kValue = 2,
  kLabel = 3,
};
enum class LabelField : protozero::pbf_tag_type {
  kKey = 1,
  kText = 2,
  kNumber = 3,
  kUnit = 4,
};
enum class MappingField : protozero::pbf_tag_type {
  kId = 1,
  kFilename = 5,
  kHasFunctions = 7,
};
enum class LocationField : protozero::pbf_tag_type {
  kId = 1,
  kMappingId = 2,
  kLine = 4,
};
enum class LineField : protozero::pbf_tag_type { kFunctionId = 1, kLine = 2 };
enum class FunctionField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kSystemName = 3,
  kFilename = 4,
};

template <typename Tag>
using Builder = protozero::pbf_builder<Tag>;

// All locations lie in one mapping that needs no symbols; without it pprof
// would look for a binary to find their names in.
constexpr uint64_t kMappingId = 1;
constexpr std::string_view kMappingName = "TensorFlow ops";

void AddText(Builder<Profile>* profile, Profile tag, std::string_view text) {
  profile->add_bytes(tag, text.data(), text.size());
}

}  // namespace

ProfileWriter::ProfileWriter(const std::vector<ValueType>& value_types) {
  StringIndex("");  // The format wants it first.
  Builder<Profile> profile(value_types_);
  for (const ValueType& value_type : value_types) {
    Builder<ValueTypeField> message(profile, Profile::kSampleType);
    message.add_int64(ValueTypeField::kType, StringIndex(value_type.type));
    message.add_int64(ValueTypeField::kUnit, StringIndex(value_type.unit));
  }
}

int64_t ProfileWriter::StringIndex(std::string_view text) {
  const auto [found, added] = string_index_.try_emplace(
      std::string(text), static_cast<int64_t>(strings_.size()));
  if (added) strings_.emplace_back(text);
  return found->second;
}

uint64_t ProfileWriter::LocationId(const StackPlace& place) {
  const Function function{StringIndex(place.name), StringIndex(place.file)};
  const auto [known_function, is_new_function] =
      function_ids_.try_emplace(function, functions_.size() + 1);
  if (is_new_function) functions_.push_back(function);
  const Location location{known_function->second, place.line};
  const auto [known, is_new] =
      location_ids_.try_emplace(location, locations_.size() + 1);
  if (is_new) locations_.push_back(location);
  return known->second;
}

void ProfileWriter::Add(const Sample& sample) {
  std::vector<uint64_t> locations;
  locations.reserve(sample.stack.size());
  for (const StackPlace& place : sample.stack) {
    locations.push_back(LocationId(place));
  }
  Builder<Profile> profile(samples_);
  Builder<SampleField> message(profile, Profile::kSample);
  message.add_packed_uint64(SampleField::kLocationId, locations.begin(),
                            locations.end());
  message.add_packed_int64(SampleField::kValue, sample.values.begin(),
                           sample.values.end());
  for (const Label& label : sample.labels) {
    Builder<LabelField> field(message, SampleField::kLabel);
    field.add_int64(LabelField::kKey, StringIndex(label.key));
    if (!label.text.empty()) {
      field.add_int64(LabelField::kText, StringIndex(label.text));
      continue;
    }
    field.add_int64(LabelField::kNumber, label.number);
    field.add_int64(LabelField::kUnit, StringIndex(label.unit));
  }
}

std::string ProfileWriter::Finish(const Facts& facts) {
  std::string bytes = std::move(value_types_);
  bytes += samples_;
  samples_.clear();
  Builder<Profile> profile(bytes);
  {
    Builder<MappingField> mapping(profile, Profile::kMapping);
    mapping.add_uint64(MappingField::kId, kMappingId);
    mapping.add_int64(MappingField::kFilename, StringIndex(kMappingName));
    mapping.add_bool(MappingField::kHasFunctions, true);
  }
  for (size_t i = 0; i < locations_.size(); ++i) {
    const auto& [function, line_number] = locations_[i];
    Builder<LocationField> location(profile, Profile::kLocation);
    location.add_uint64(LocationField::kId, i + 1);
    location.add_uint64(LocationField::kMappingId, kMappingId);
    Builder<LineField> line(location, LocationField::kLine);
    line.add_uint64(LineField::kFunctionId, function);
    if (line_number != 0) line.add_int64(LineField::kLine, line_number);
  }
  for (size_t i = 0; i < functions_.size(); ++i) {
    const auto& [name, file] = functions_[i];
    Builder<FunctionField> function(profile, Profile::kFunction);
    function.add_uint64(FunctionField::kId, i + 1);
    function.add_int64(FunctionField::kName, name);
    function.add_int64(FunctionField::kSystemName, name);
    if (file != 0) function.add_int64(FunctionField::kFilename, file);
  }
  if (facts.time_ns != 0) {
    profile.add_int64(Profile::kTimeNanos, facts.time_ns);
  }
  for (const std::string& comment : facts.comments) {
    profile.add_int64(Profile::kComment, StringIndex(comment));
  }
  profile.add_int64(Profile::kDefaultSampleType,
                    StringIndex(facts.default_type));
  for (const std::string& text : strings_) {
    AddText(&profile, Profile::kStringTable, text);
  }
  return bytes;
}

}  // namespace oom_forensics
