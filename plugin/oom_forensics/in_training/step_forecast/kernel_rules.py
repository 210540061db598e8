"""What TensorFlow's kernels do with the buffers of their inputs (CPU kernels, 2.15 to 2.21).

An op that is named nowhere here allocates every output.
"""

# The output is the input's buffer under another name.
SHARES_FIRST_INPUT = frozenset(
    {
        "Identity",
        "Reshape",
        "ExpandDims",
        "Squeeze",
        "StopGradient",
        "PreventGradient",
        "CheckNumerics",
        "CheckNumericsV2",
        "Bitcast",
        "EnsureShape",
        "PlaceholderWithDefault",
        "Print",
        "PrintV2",
        "_Retval",
        "DebugGradientIdentity",
    }
)

# These are the same as their input where the shapes are.
SHARES_WHERE_SAME_SHAPE = frozenset(
    {"BroadcastTo", "Tile", "Pad", "PadV2", "MirrorPad", "ConcatV2", "Slice", "StridedSlice"}
)

# Parts of the first dimension lie in one piece: the output is a part of the buffer.
SHARES_ROWS = frozenset({"Slice", "StridedSlice", "Split", "SplitV", "Unpack"})

# Take an input's buffer for the output, if nobody else refers to it and it is of the same
# size and type (OpKernelContext::forward_input_or_allocate_output).
FORWARDS = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Cos",
        "Cosh",
        "Digamma",
        "Elu",
        "Erf",
        "Erfc",
        "Erfinv",
        "Exp",
        "Expm1",
        "Floor",
        "Inv",
        "Invert",
        "LeakyRelu",
        "Lgamma",
        "Log",
        "Log1p",
        "LogicalNot",
        "LogSoftmax",
        "Neg",
        "OnesLike",
        "Reciprocal",
        "Relu",
        "Relu6",
        "Rint",
        "Round",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Snapshot",
        "Softmax",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Square",
        "Tan",
        "Tanh",
        "ZerosLike",
        "Add",
        "AddV2",
        "BiasAdd",
        "BiasAddV1",
        "ClipByValue",
        "Div",
        "DivNoNan",
        "EluGrad",
        "FloorDiv",
        "FloorMod",
        "InvGrad",
        "LeakyReluGrad",
        "LogicalAnd",
        "LogicalOr",
        "Maximum",
        "Minimum",
        "Mod",
        "Mul",
        "MulNoNan",
        "Pow",
        "RealDiv",
        "ReciprocalGrad",
        "Relu6Grad",
        "ReluGrad",
        "RsqrtGrad",
        "SeluGrad",
        "SigmoidGrad",
        "SoftplusGrad",
        "SoftsignGrad",
        "SqrtGrad",
        "SquaredDifference",
        "Sub",
        "TanhGrad",
        "TruncateDiv",
        "Xdivy",
        "Xlogy",
        "AddN",
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
        "MatrixBandPart",
        "MatrixSetDiag",
        "MatrixSetDiagV3",
        "Select",
        "SelectV2",
        "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
        "TensorScatterUpdate",
        "TensorScatterAdd",
    ]
)

# The output that takes an input's buffer, where it is not the first.
FORWARDED_OUTPUT = {
    "SoftmaxCrossEntropyWithLogits": 1,
    "SparseSoftmaxCrossEntropyWithLogits": 1,
}

# The inputs that may be taken, where not all: a condition has another type anyway.
FORWARDED_INPUTS = {
    "BiasAdd": (0,),
    "BiasAddV1": (0,),
    "ClipByValue": (0,),
    "SoftmaxCrossEntropyWithLogits": (0,),
    "SparseSoftmaxCrossEntropyWithLogits": (0,),
    "FusedBatchNorm": (0,),
    "FusedBatchNormV2": (0,),
    "FusedBatchNormV3": (0,),
}

REDUCTIONS = frozenset(
    "Sum Mean Max Min Prod All Any EuclideanNorm SumV2 _MklSum".split()  # noqa: SIM905
)

# Update a variable in its own buffer; where a read of it is still held, in a copy.
UPDATES_IN_PLACE = frozenset({"AssignAddVariableOp", "AssignSubVariableOp"})
# The inputs of dense optimizer ops that are variables, all updated in place.
APPLIES = "ResourceApply"
SPARSE_UPDATES = ("ResourceSparseApply", "ResourceScatter")

# Kernels that TensorFlow's executor never hands to another thread (OpKernel::IsExpensive).
CHEAP = frozenset(
    """Const Identity IdentityN NoOp ControlTrigger Placeholder PlaceholderWithDefault Reshape
    Shape ShapeN Rank Size ExpandDims Squeeze StopGradient PreventGradient StridedSlice
    StridedSliceGrad VarHandleOp _Arg _Retval""".split()  # noqa: SIM905
)

# What multiplies matrices: parts of the names of ops.
PRODUCTS = ("MatMul", "Conv2D", "Conv3D", "Depthwise", "Einsum")

# Work on the buffer of a temporary variable, their first input.
SHARES_TEMPORARY = frozenset({"Assign", "AssignAdd", "AssignSub", "DestroyTemporaryVariable"})
