// What one input may cost: time and memory in proportion to its bytes. A fuzzer
// looks for crashes by itself; with this it looks for small inputs that eat the
// reader, too.
#ifndef OOM_FORENSICS_CONVERTER_FUZZ_COST_LIMIT_H_
#define OOM_FORENSICS_CONVERTER_FUZZ_COST_LIMIT_H_

#include <cstddef>
#include <cstdint>

namespace oom_forensics {

// From its construction to its destruction the process may use so much for an
// input of that size; else it ends with a sentence, as if it had crashed.
class CostLimit {
 public:
  explicit CostLimit(size_t input_bytes);
  ~CostLimit();
  CostLimit(const CostLimit&) = delete;
  CostLimit& operator=(const CostLimit&) = delete;

 private:
  const size_t input_bytes_;
  const double began_s_;
  const int64_t began_bytes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FUZZ_COST_LIMIT_H_
