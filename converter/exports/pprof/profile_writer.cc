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
enum class LineField : protozero::pbf_tag_type { kFunctionId = 1 };
enum class FunctionField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kSystemName = 3,
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

uint64_t ProfileWriter::LocationId(std::string_view function_name) {
  const int64_t name = StringIndex(function_name);
  const auto [found, added] =
      location_of_name_.try_emplace(name, function_names_.size() + 1);
  if (added) function_names_.push_back(name);
  return found->second;
}

void ProfileWriter::Add(const Sample& sample) {
  std::vector<uint64_t> locations;
  locations.reserve(sample.stack.size());
  for (std::string_view name : sample.stack) {
    locations.push_back(LocationId(name));
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
  for (size_t i = 0; i < function_names_.size(); ++i) {
    const uint64_t id = i + 1;
    {
      Builder<LocationField> location(profile, Profile::kLocation);
      location.add_uint64(LocationField::kId, id);
      location.add_uint64(LocationField::kMappingId, kMappingId);
      Builder<LineField> line(location, LocationField::kLine);
      line.add_uint64(LineField::kFunctionId, id);
    }
    Builder<FunctionField> function(profile, Profile::kFunction);
    function.add_uint64(FunctionField::kId, id);
    function.add_int64(FunctionField::kName, function_names_[i]);
    function.add_int64(FunctionField::kSystemName, function_names_[i]);
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
