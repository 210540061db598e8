#include "converter/trace/site_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// tensorflow/core/framework/types.proto
constexpr int32_t kReferenceTypesFrom = 100;
// TensorShape::MaxDimensions()
constexpr size_t kMaxDims = 254;

struct Dtype {
  int32_t number;
  std::string_view name;
  uint32_t bytes;
};
constexpr Dtype kDtypes[] = {
    {1, "float32", 4},
    {2, "float64", 8},
    {3, "int32", 4},
    {4, "uint8", 1},
    {5, "int16", 2},
    {6, "int8", 1},
    {7, "string", 0},
    {8, "complex64", 8},
    {9, "int64", 8},
    {10, "bool", 1},
    {11, "qint8", 1},
    {12, "quint8", 1},
    {13, "qint32", 4},
    {14, "bfloat16", 2},
    {15, "qint16", 2},
    {16, "quint16", 2},
    {17, "uint16", 2},
    {18, "complex128", 16},
    {19, "float16", 2},
    {20, "resource", 0},
    {21, "variant", 0},
    {22, "uint32", 4},
    {23, "uint64", 8},
    {24, "float8_e5m2", 1},
    {25, "float8_e4m3fn", 1},
    {26, "float8_e4m3fnuz", 1},
    {27, "float8_e4m3b11fnuz", 1},
    {28, "float8_e5m2fnuz", 1},
    {29, "int4", 1},
    {30, "uint4", 1},
};

const Dtype* FindDtype(int32_t number) {
  if (number > kReferenceTypesFrom) number -= kReferenceTypesFrom;
  for (const Dtype& dtype : kDtypes) {
    if (dtype.number == number) return &dtype;
  }
  return nullptr;
}

}  // namespace

SiteId SiteTable::Intern(const AllocationSite& site) {
  const auto [position, inserted] =
      ids_.try_emplace(site, static_cast<SiteId>(sites_.size()));
  if (inserted) sites_.push_back(site);
  return position->second;
}

std::string DtypeName(int32_t dtype) {
  if (dtype == 0) return "";
  const Dtype* known = FindDtype(dtype);
  return known != nullptr ? std::string(known->name)
                          : absl::StrCat("dtype_", dtype);
}

uint32_t DtypeBytes(int32_t dtype) {
  const Dtype* known = FindDtype(dtype);
  return known != nullptr ? known->bytes : 0;
}

bool ParseShape(std::string_view text, std::vector<int64_t>* dims) {
  dims->clear();
  if (!ConsumePrefix(&text, "[") || !ConsumeSuffix(&text, "]")) {
    return false;
  }
  if (text.empty()) return true;
  while (true) {
    const size_t comma = text.find(',');
    int64_t dim = 0;
    if (dims->size() == kMaxDims ||
        !ParseInteger(text.substr(0, comma), &dim) || dim < 0) {
      dims->clear();
      return false;
    }
    dims->push_back(dim);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace oom_forensics
