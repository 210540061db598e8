#include "converter/trace/site_table.h"

#include <vector>

#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// TensorShape::MaxDimensions()
constexpr size_t kMaxDims = 254;

}  // namespace

SiteId SiteTable::Intern(const AllocationSite& site) {
  const auto [position, inserted] =
      ids_.try_emplace(site, static_cast<SiteId>(sites_.size()));
  if (inserted) sites_.push_back(site);
  return position->second;
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
