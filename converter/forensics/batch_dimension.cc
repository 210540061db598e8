#include "converter/forensics/batch_dimension.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace oom_forensics {
namespace {

// Fewest ops that must agree.
constexpr size_t kMinVariedOps = 3;
constexpr size_t kMinSharedOps = 3;
// Fewest different shapes behind the shared leading dim.
constexpr size_t kMinTrailingShapes = 2;
// Part of all candidate ops, and of their bytes, that must share it.
constexpr double kMinShare = 0.5;

// A change of size as a ratio in lowest terms: 480 -> 320 and 24 -> 16 are one.
using Ratio = std::pair<int64_t, int64_t>;

Ratio RatioOf(int64_t larger, int64_t smaller) {
  const int64_t divisor = std::gcd(larger, smaller);
  return {larger / divisor, smaller / divisor};
}

// The only dim in which the two differ.
std::optional<size_t> OnlyDifference(const std::vector<int64_t>& a,
                                     const std::vector<int64_t>& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<size_t> position;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (position.has_value() || a[i] <= 0 || b[i] <= 0) return std::nullopt;
    position = i;
  }
  return position;
}

// One op that was seen with two sizes of one dim.
struct Variation {
  std::string_view op;
  size_t position = 0;
  int64_t larger = 0;
  int64_t smaller = 0;
  // The size in the request that was refused; 0: not of that op.
  int64_t refused = 0;
  // More than two sizes were seen.
  bool has_more_sizes = false;
  // Each example has more than one number.
  bool has_features = false;
};

}  // namespace

class BatchSearch {
 public:
  explicit BatchSearch(const std::vector<ShapeUse>& uses) {
    for (const ShapeUse& use : uses) {
      if (use.is_variable) {
        if (!use.dims.empty()) variable_leading_.insert(use.dims.front());
        continue;
      }
      uses_.push_back(&use);
      if (use.is_input && use.dims.size() > 1) {
        inputs_[use.dims.front()].insert(
            {use.dims.begin() + 1, use.dims.end()});
      }
    }
  }

  std::optional<BatchDimension> Run() {
    if (auto varied = FromVariations(); varied.has_value()) return varied;
    return FromSharedLeadingDim();
  }

 private:
  std::vector<Variation> Variations() const {
    std::map<std::string_view, std::vector<const ShapeUse*>> by_op;
    for (const ShapeUse* use : uses_) {
      if (use->is_graph_node) by_op[use->op].push_back(use);
    }
    std::vector<Variation> variations;
    for (const auto& [op, shapes] : by_op) {
      for (size_t i = 1; i < shapes.size(); ++i) {
        const auto position = OnlyDifference(shapes[0]->dims, shapes[i]->dims);
        if (!position.has_value()) continue;
        variations.push_back(
            VariationOf(op, shapes, *position, shapes[i]->dims[*position]));
        break;
      }
    }
    return variations;
  }

  // `other`: a size besides that of the first shape.
  static Variation VariationOf(std::string_view op,
                               const std::vector<const ShapeUse*>& shapes,
                               size_t position, int64_t other) {
    Variation variation;
    variation.op = op;
    variation.position = position;
    const int64_t first = shapes[0]->dims[position];
    std::tie(variation.smaller, variation.larger) = std::minmax({first, other});
    variation.has_features = shapes[0]->dims.size() > 1;
    for (const ShapeUse* use : shapes) {
      if (use != shapes[0] &&
          OnlyDifference(shapes[0]->dims, use->dims) != position) {
        continue;
      }
      const int64_t size = use->dims[position];
      variation.has_more_sizes |= size != first && size != other;
      if (use->is_refused) variation.refused = size;
    }
    return variation;
  }

  std::optional<BatchDimension> FromVariations() const {
    const std::vector<Variation> variations = Variations();
    std::map<Ratio, std::vector<const Variation*>> by_ratio;
    for (const Variation& variation : variations) {
      by_ratio[RatioOf(variation.larger, variation.smaller)].push_back(
          &variation);
    }
    const auto best = std::max_element(
        by_ratio.begin(), by_ratio.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        });
    if (best == by_ratio.end() || best->second.size() < kMinVariedOps ||
        best->second.size() * 2 <= variations.size() ||
        MayBeOtherThanBatch(best->second)) {
      return std::nullopt;
    }
    // The batch itself is the pair that most ops show; others are multiples.
    std::map<std::pair<int64_t, int64_t>, size_t> pairs;
    for (const Variation* v : best->second) ++pairs[{v->larger, v->smaller}];
    const auto pair = std::max_element(
        pairs.begin(), pairs.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (pair->second < kMinVariedOps) return std::nullopt;
    const auto& [larger, smaller] = pair->first;
    BatchDimension batch;
    batch.size_ = larger;
    batch.other_size_ = smaller;
    const int64_t refused = RefusedSize(best->second, pair->first);
    if (refused != 0 ? refused == smaller
                     : LeadingBytes(smaller) > LeadingBytes(larger)) {
      std::swap(batch.size_, batch.other_size_);
    }
    for (const Variation* v : best->second) {
      if (v->larger % larger != 0) continue;
      ++batch.varied_ops_;
      batch.varied_position_[std::string(v->op)] = v->position;
    }
    CountShared(batch);
    return batch;
  }

  // The length of a sequence, the number of keys of a generator of chance.
  static bool MayBeOtherThanBatch(const std::vector<const Variation*>& varied) {
    bool has_more_sizes = false;
    bool has_features = false;
    size_t leading = 0;
    for (const Variation* v : varied) {
      has_more_sizes |= v->has_more_sizes;
      has_features |= v->has_features;
      leading += v->position == 0 ? 1 : 0;
    }
    return !has_features || leading * 2 < varied.size() ||
           (has_more_sizes && leading < varied.size());
  }

  // Which of the two the request that was refused has; 0: it does not tell.
  static int64_t RefusedSize(const std::vector<const Variation*>& varied,
                             const std::pair<int64_t, int64_t>& sizes) {
    for (const Variation* v : varied) {
      if (v->refused != 0 && v->larger % sizes.first == 0 &&
          v->larger / sizes.first == v->smaller / sizes.second) {
        return v->refused == v->larger ? sizes.first : sizes.second;
      }
    }
    return 0;
  }

  std::optional<BatchDimension> FromSharedLeadingDim() const {
    std::map<int64_t, std::set<std::string_view>> ops;
    std::set<std::string_view> all_ops;
    for (const ShapeUse* use : uses_) {
      if (use->dims.size() < 2 || use->dims.front() <= 1) continue;
      ops[use->dims.front()].insert(use->op);
      all_ops.insert(use->op);
    }
    const auto best = std::max_element(
        ops.begin(), ops.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        });
    if (best == ops.end() || best->second.size() < kMinSharedOps ||
        static_cast<double>(best->second.size()) <=
            kMinShare * static_cast<double>(all_ops.size()) ||
        !IsEvident(best->first)) {
      return std::nullopt;
    }
    std::set<std::vector<int64_t>> trailing;
    uint64_t total_bytes = 0;
    for (const ShapeUse* use : uses_) {
      if (use->dims.size() < 2) continue;
      total_bytes += use->bytes;
      if (use->dims.front() != best->first) continue;
      trailing.insert({use->dims.begin() + 1, use->dims.end()});
    }
    if (trailing.size() < kMinTrailingShapes ||
        static_cast<double>(LeadingBytes(best->first)) <
            kMinShare * static_cast<double>(total_bytes)) {
      return std::nullopt;
    }
    BatchDimension batch;
    batch.size_ = best->first;
    CountShared(batch);
    return batch;
  }

  // Whether a dim that most ops begin with is a number of examples.
  bool IsEvident(int64_t size) const {
    const auto input = inputs_.find(size);
    const size_t inputs = input == inputs_.end() ? 0 : input->second.size();
    if (variable_leading_.count(size) != 0) return inputs > 1;
    if (!inputs_.empty()) return inputs > 0;
    std::set<int64_t> leading;
    for (const ShapeUse* use : uses_) {
      if (use->dims.size() > 1) leading.insert(use->dims.front());
    }
    return std::none_of(uses_.begin(), uses_.end(), [&](const ShapeUse* use) {
      if (use->dims.empty() || use->dims.front() != size) return false;
      // An embedding picks a row for each place of a sequence, not one a row.
      if (use->dims.size() < 3) return use->is_gathered;
      return use->dims[1] > 1 && leading.count(size * use->dims[1]) != 0;
    });
  }

  uint64_t LeadingBytes(int64_t size) const {
    uint64_t bytes = 0;
    for (const ShapeUse* use : uses_) {
      if (use->dims.size() >= 2 && use->dims.front() == size) {
        bytes += use->bytes;
      }
    }
    return bytes;
  }

  void CountShared(BatchDimension& batch) const {
    std::set<std::string_view> sharing, candidates;
    for (const ShapeUse* use : uses_) {
      if (use->dims.size() < 2) continue;
      candidates.insert(use->op);
      if (use->dims.front() == batch.size_) sharing.insert(use->op);
    }
    batch.shared_ops_ = sharing.size();
    batch.candidate_ops_ = candidates.size();
  }

  std::vector<const ShapeUse*> uses_;
  std::set<int64_t> variable_leading_;
  // Leading dim of inputs, to what follows it.
  std::map<int64_t, std::set<std::vector<int64_t>>> inputs_;
};

std::optional<BatchDimension> BatchDimension::Find(
    const std::vector<ShapeUse>& uses) {
  return BatchSearch(uses).Run();
}

BatchDimension BatchDimension::OfBlock(int64_t size, size_t buffers,
                                       size_t of_buffers) {
  BatchDimension batch;
  batch.of_block_ = true;
  batch.size_ = size;
  batch.shared_ops_ = buffers;
  batch.candidate_ops_ = of_buffers;
  return batch;
}

std::optional<size_t> BatchDimension::PositionIn(
    std::string_view op, const std::vector<int64_t>& dims) const {
  const auto varied = varied_position_.find(op);
  if (varied != varied_position_.end()) {
    const size_t position = varied->second;
    if (position < dims.size() && dims[position] % size_ == 0) return position;
  }
  if (!dims.empty() && dims.front() == size_) return 0;
  return std::nullopt;
}

std::string BatchDimension::Evidence() const {
  if (varied_ops_ != 0) {
    return absl::StrCat(varied_ops_, " ops were seen with ", size_,
                        " and with ", other_size_,
                        " in the same place of their shape.");
  }
  if (of_block_) {
    return absl::StrCat("The shapes of ", shared_ops_, " of ", candidate_ops_,
                        " buffers of the block begin with ", size_,
                        " or a multiple of it, as that of an argument does.");
  }
  return absl::StrCat("The shapes of ", shared_ops_, " of ", candidate_ops_,
                      " ops begin with ", size_,
                      ", as the examples of a batch do.");
}

}  // namespace oom_forensics
