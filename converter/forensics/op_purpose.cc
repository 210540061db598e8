#include "converter/forensics/op_purpose.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Names that Keras gives to its optimizers' scopes, in lower case.
constexpr std::string_view kOptimizers[] = {
    "adam",     "adamw", "adamax", "nadam", "sgd",  "rmsprop",  "adagrad",
    "adadelta", "ftrl",  "lion",   "lamb",  "muon", "adafactor"};

// Kernels that allocate their result as "temp" and then hand it on.
constexpr std::string_view kReductions[] = {"Sum", "Mean", "Prod", "Max",
                                            "Min", "All",  "Any",  "ArgMax"};

bool IsOneOf(std::string_view text, const std::string_view* begin,
             const std::string_view* end) {
  return std::find(begin, end, text) != end;
}

// An optimizer may lie in a branch, or in another one that scales its loss:
// "loss_scale_optimizer/cond/adam/Square".
constexpr int kOptimizerDepth = 3;

bool IsOptimizer(std::string_view part) {
  std::string scope(WithoutNumber(part));
  std::transform(scope.begin(), scope.end(), scope.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  // One of the program's own is called so by custom, or after what it changes:
  // "my_adam", "sgd_slow".
  const std::string_view name = scope;
  const std::string_view first = name.substr(0, name.find('_'));
  const std::string_view last = name.substr(name.rfind('_') + 1);
  return EndsWith(name, "optimizer") ||
         IsOneOf(name, std::begin(kOptimizers), std::end(kOptimizers)) ||
         IsOneOf(first, std::begin(kOptimizers), std::end(kOptimizers)) ||
         IsOneOf(last, std::begin(kOptimizers), std::end(kOptimizers));
}

// "update_3": how Keras calls the update of a variable under a distribution
// strategy, in the scope of whatever optimizer it is.
bool IsUpdateOfVariable(std::string_view part) {
  return ConsumePrefix(&part, "update_") && !part.empty() &&
         std::all_of(part.begin(), part.end(),
                     [](char c) { return IsDigit(c) || c == '_'; });
}

// Of TensorFlow's graph, not of variables: "loss/ArithmeticOptimizer/Cast".
constexpr std::string_view kGraphOptimizer = "ArithmeticOptimizer";

bool IsOptimizerScope(std::string_view layer_path) {
  for (int depth = 0; depth < kOptimizerDepth; ++depth) {
    const size_t slash = layer_path.find('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view part = layer_path.substr(0, slash);
    if (part != kGraphOptimizer &&
        (IsOptimizer(part) || IsUpdateOfVariable(part))) {
      return true;
    }
    layer_path.remove_prefix(slash + 1);
  }
  return false;
}

bool IsInputOp(std::string_view type) {
  return EndsWith(type, "Dataset") || EndsWith(type, "DatasetV2") ||
         EndsWith(type, "DatasetV3") || EndsWith(type, "DatasetV4") ||
         StartsWith(type, "IteratorGetNext") || type == "MakeIterator" ||
         EndsWith(type, "IteratorV3") || EndsWith(type, "IteratorV2") ||
         // A batch that is copied to its device.
         type == "SameWorkerRecvDone" || type == "OptionalGetValue" ||
         type == "OptionalFromValue" || type == "optional";
}

// The input pipeline of tf.distribute.
bool IsOfManyDevices(std::string_view path) {
  return StartsWith(path, "MultiDeviceIterator") ||
         StartsWith(path, "AnonymousMultiDeviceIterator");
}

bool IsVariableOp(std::string_view type) {
  return StartsWith(type, "VarHandleOp") ||
         StartsWith(type, "ReadVariableOp") ||
         StartsWith(type, "AssignVariableOp") || type == "VariableV2" ||
         type == "VarIsInitializedOp" || type == "ResourceGather";
}

// Scratch space is asked for as bytes; a "temp" that is no reduction's result
// and no new buffer of a variable is the op's own, too.
bool IsScratch(std::string_view type, const RequestKind& request) {
  if (request.region_type != "temp") return false;
  if (request.dtype == "uint8" && request.rank == 1) return true;
  return !StartsWith(type, "Assign") && !StartsWith(type, "VarHandleOp") &&
         !IsOneOf(type, std::begin(kReductions), std::end(kReductions));
}

}  // namespace

bool IsEagerGradientOp(std::string_view type) {
  return EndsWith(type, "Grad") || EndsWith(type, "GradV2") ||
         EndsWith(type, "GradV3") ||
         type.find("Backprop") != std::string_view::npos;
}

OpPurpose PurposeOf(std::string_view op_name, const RequestKind& request) {
  if (op_name.empty() || op_name == "(null)") return OpPurpose::kUnknown;
  const std::string_view path = LayerPath(op_name);
  const std::string_view type = OpTypeOf(path);
  // Tensors that XLA makes for trials.
  if (IsScratch(type, request) || type == "XlaCompile") {
    return OpPurpose::kWorkspace;
  }
  if (IsInputOp(type) || IsOfManyDevices(path)) return OpPurpose::kInput;
  if (request.of_optimizer || IsOptimizerScope(path)) {
    if (path.find("/Initializer/") != std::string_view::npos) {
      return OpPurpose::kOptimizerSlot;
    }
    return StartsWith(type, "AssignSubVariableOp")
               ? OpPurpose::kVariableUpdate
               : OpPurpose::kOptimizerUpdate;
  }
  if (path.find("/Initializer/") != std::string_view::npos ||
      IsVariableOp(type)) {
    return OpPurpose::kVariable;
  }
  if (IsGradientName(op_name)) return OpPurpose::kGradient;
  if (request.eager) {
    return IsEagerGradientOp(type) ? OpPurpose::kGradient : OpPurpose::kUnknown;
  }
  return ScopeOf(op_name).empty() ? OpPurpose::kUnknown : OpPurpose::kForward;
}

}  // namespace oom_forensics
