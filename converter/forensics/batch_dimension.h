// The batch size, found in the shapes that were recorded.
//
// Two kinds of evidence, the first is the stronger:
//   varied  One op of a graph was seen with two shapes that differ in a single
//           dim, and many ops changed by the same pair of sizes (24 -> 16, the
//           last batch of an epoch). Lengths of sequences vary likewise: what
//           has more than two sizes and is not the leading dim everywhere may
//           be one.
//   shared  Most ops share one leading dim, over tensors of different shape
//           otherwise, and no variable has it, or several inputs do. Where what
//           comes in is known, it has that dim; rows that were gathered by
//           index (the edges of a graph) are no examples, nor is a dim that is
//           flattened with the next one (time, say) unless an input has it.
// Where neither is clear, there is no answer: a batch size is never guessed.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_BATCH_DIMENSION_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_BATCH_DIMENSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

// A shape that an op of the trace asked for.
struct ShapeUse {
  std::string_view op;
  std::vector<int64_t> dims;
  // Weighs it against other candidates; 0: it was only ever seen.
  uint64_t bytes = 0;
  // A variable, an optimizer slot or the gradient of one: has no batch.
  bool is_variable = false;
  // The op is one node of a graph (not a type of op, as eager names are).
  bool is_graph_node = false;
  // It came from outside: NumPy, an input pipeline.
  bool is_input = false;
  // Rows that were picked by index.
  bool is_gathered = false;
  // This is the request that was refused.
  bool is_refused = false;
};

class BatchDimension {
 public:
  // Nothing where the shapes do not show it clearly.
  static std::optional<BatchDimension> Find(const std::vector<ShapeUse>& uses);

  // As the buffers of a compiled block show it: so many of so many begin with a
  // multiple of it.
  static BatchDimension OfBlock(int64_t size, size_t buffers,
                                size_t of_buffers);

  int64_t size() const { return size_; }
  // Ops that changed with it; 0: the size never varied.
  size_t varied_ops() const { return varied_ops_; }
  // The other size that was seen, where it varied.
  int64_t other_size() const { return other_size_; }
  // Ops whose leading dim it is, of how many that could have it.
  size_t shared_ops() const { return shared_ops_; }
  size_t candidate_ops() const { return candidate_ops_; }
  // Why it is believed to be the batch, one sentence.
  std::string Evidence() const;

  // Index of the dim that is the batch size, or a multiple of it; nothing where
  // the shape does not depend on the batch.
  std::optional<size_t> PositionIn(std::string_view op,
                                   const std::vector<int64_t>& dims) const;

 private:
  friend class BatchSearch;

  bool of_block_ = false;
  int64_t size_ = 0;
  int64_t other_size_ = 0;
  size_t varied_ops_ = 0;
  size_t shared_ops_ = 0;
  size_t candidate_ops_ = 0;
  // The dim that varied, by op.
  std::map<std::string, size_t, std::less<>> varied_position_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_BATCH_DIMENSION_H_
