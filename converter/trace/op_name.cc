#include "converter/trace/op_name.h"

#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kTape = "gradient_tape/";
constexpr std::string_view kGradients = "gradients/";
constexpr std::string_view kNone = {};

bool IsNumber(std::string_view text) {
  for (const char c : text) {
    if (!IsDigit(c)) return false;
  }
  return !text.empty();
}

// "PartitionedCall_2" is, "StatefulPartitionedCallback" is not. The graph
// optimizer's passes put a name of theirs in front in the same manner.
bool IsCall(std::string_view part) {
  for (const std::string_view call :
       {"StatefulPartitionedCall", "PartitionedCall", "ConstantFolding",
        "ArithmeticOptimizer", "RemapperOptimizer", "LayoutOptimizer"}) {
    std::string_view rest = part;
    if (!ConsumePrefix(&rest, call)) continue;
    return rest.empty() || (ConsumePrefix(&rest, "_") && IsNumber(rest));
  }
  return false;
}

// Of "replica_1/dense_1/MatMul" the replica, which tf.distribute puts in front
// of all but the first one's ops. Empty: there is none.
std::string_view LeadingReplica(std::string_view name) {
  std::string_view rest = name;
  if (!ConsumePrefix(&rest, "replica_")) return kNone;
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !IsNumber(rest.substr(0, slash))) {
    return kNone;
  }
  return name.substr(0, name.size() - rest.size() + slash);
}

// "dense_1/MatMul": a layer is the same in each replica.
std::string_view WithoutReplica(std::string_view name) {
  const std::string_view replica = LeadingReplica(name);
  return replica.empty() ? name : name.substr(replica.size() + 1);
}

// What follows the last "body/_<n>/" (a loop) or "then/_<n>/" (a branch): the
// function that is run there repeats the whole path of its ops.
std::string_view AfterLastBody(std::string_view name) {
  std::string_view inner = name;
  for (size_t from = 0;;) {
    const size_t mark = name.find("/_", from);
    if (mark == std::string_view::npos) return inner;
    from = mark + 2;
    const size_t slash = name.find('/', from);
    if (slash == std::string_view::npos) return inner;
    const std::string_view before = name.substr(0, mark);
    const std::string_view part =
        before.substr(before.rfind('/') + 1);  // npos + 1 is 0.
    const bool is_body = part == "body" || part == "cond" || part == "then" ||
                         part == "else" || part == "while_body" ||
                         part == "while_cond";
    if (is_body && IsNumber(name.substr(from, slash - from))) {
      inner = name.substr(slash + 1);
    }
  }
}

// The functions of TensorFlow's Python that put their ops into a scope of their
// own name: what a tape calls a gradient by is the scope of the forward op, so
// these, and only these, stand between a layer and the gradient's op. (Of
// tensorflow/python/ops of 2.21: `ops.name_scope(name, "MatMul", ...)`.) A
// layer may have a name of its own in upper case:
// "gradient_tape/Encoder/ReluGrad".
constexpr std::string_view kScopedFunctions[] = {
    "Abs",
    "Add",
    "AvgPool",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "BatchGather",
    "BatchGatherND",
    "BiasAdd",
    "BiasAddV1",
    "CRelu",
    "Cast",
    "Cumprod",
    "Cumsum",
    "CumulativeLogsumexp",
    "Gelu",
    "LeakyRelu",
    "LogSigmoid",
    "MatMul",
    "MatVec",
    "MaxPool",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3D",
    "Pow",
    "ReduceLogSumExp",
    "Relu6",
    "Repeat",
    "SequenceMask",
    "Sigmoid",
    "SparseSoftmaxCrossEntropyWithLogits",
    "TensorArrayV2Read",
    "TensorArrayV2Stack",
    "TensorArrayV2Write",
    "Tensordot",
    "UnsortedSegmentMean",
    "UnsortedSegmentSqrtN",
    "Where",
    "add",
    "add_n",
    "concat",
    "convolution",
    "div_no_nan",
    "einsum",
    "matmul",
    "mean",
    "mul",
    "neg",
    "pow",
    "split",
    "strided_slice",
    "sub",
    "transpose",
    "truediv",
    "variance",
};

// The forward op that a gradient's path names before the gradient's own op.
bool IsOpOfForwardPass(std::string_view part) {
  // In the bodies of loops, tf.gradients adds this to the name of any op.
  const bool is_named = ConsumeSuffix(&part, "_grad");
  part = WithoutNumber(part);
  if (part.empty()) return false;
  if (is_named && part[0] >= 'A' && part[0] <= 'Z') return true;
  for (const std::string_view function : kScopedFunctions) {
    if (part == function) return true;
  }
  return false;
}

std::string_view WithoutLastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? kNone : path.substr(0, slash);
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0.
}

// TensorFlow's graph optimizer may add up in a variable instead of by an AddN,
// and names the parts of that after it: "AddN_1/tmp_var_zeros" is of AddN_1.
std::string_view WithoutTemporaryVariable(std::string_view name) {
  std::string_view part = LastPart(name);
  const bool is_of_sum = part.size() < name.size() &&
                         ConsumePrefix(&part, "tmp_var") &&
                         (part.empty() || part[0] == '_');
  return is_of_sum ? WithoutLastPart(name) : name;
}

std::string_view WithoutCalls(std::string_view op_name) {
  std::string_view name = AfterLastBody(op_name);
  while (true) {
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos || !IsCall(name.substr(0, slash))) {
      return name;
    }
    name.remove_prefix(slash + 1);
  }
}

// What is left of a name without call prefix and replica once what marks a
// gradient is gone, too.
std::string_view WithoutTape(std::string_view name) {
  const size_t gradients = name.rfind("/gradients/");
  if (gradients != std::string_view::npos) {
    return name.substr(gradients + 1 + kGradients.size());
  }
  const size_t tape = name.rfind("/gradient_tape/");
  if (tape != std::string_view::npos) name.remove_prefix(tape + 1);
  if (!ConsumePrefix(&name, kTape)) ConsumePrefix(&name, kGradients);
  return name;
}

}  // namespace

std::string_view WithoutNumber(std::string_view part) {
  size_t end = part.size();
  while (end > 0 && IsDigit(part[end - 1])) --end;
  if (end == part.size() || end < 2 || part[end - 1] != '_') return part;
  return part.substr(0, end - 1);
}

std::string_view StripCallPrefix(std::string_view op_name) {
  return WithoutReplica(WithoutCalls(op_name));
}

bool IsGradientName(std::string_view op_name) {
  const std::string_view name = StripCallPrefix(op_name);
  if (StartsWith(name, kTape) || StartsWith(name, kGradients)) return true;
  return name.find("/gradient_tape/") != std::string_view::npos ||
         name.find("/gradients/") != std::string_view::npos;
}

std::string_view LayerPath(std::string_view op_name) {
  return WithoutReplica(
      WithoutTape(WithoutTemporaryVariable(StripCallPrefix(op_name))));
}

std::string_view ReplicaOf(std::string_view op_name) {
  const std::string_view name = WithoutCalls(op_name);
  const std::string_view replica = LeadingReplica(name);
  return replica.empty() ? LeadingReplica(WithoutTape(name)) : replica;
}

std::string_view ScopeOf(std::string_view op_name) {
  const std::string_view scope = WithoutLastPart(LayerPath(op_name));
  if (IsGradientName(op_name) && IsOpOfForwardPass(LastPart(scope))) {
    return WithoutLastPart(scope);
  }
  return scope;
}

std::string_view OpTypeOf(std::string_view op_name) {
  return WithoutNumber(LastPart(op_name));
}

bool IsInScope(std::string_view op_name, std::string_view scope) {
  while (ConsumeSuffix(&scope, "/")) {
  }
  if (scope.empty()) return true;
  op_name = LayerPath(op_name);
  scope = LayerPath(scope);
  if (!StartsWith(op_name, scope)) return false;
  return op_name.size() == scope.size() || op_name[scope.size()] == '/';
}

}  // namespace oom_forensics
