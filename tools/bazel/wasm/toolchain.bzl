"""C++ to WebAssembly: clang with the C and C++ libraries of Debian's emscripten.

Clang is called itself and not by way of em++, whose Python takes half a second for
each file. The flags are those that em++ gives it. No JavaScript of emscripten is linked:
what the module asks of its host are functions of WASI.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path")

_LLVM = "/usr/lib/llvm-14"
_SYSROOT = "/usr/share/emscripten/cache/sysroot"
_LIBRARIES = _SYSROOT + "/lib/wasm32-emscripten"
_TARGET = ["-target", "wasm32-unknown-emscripten", "--sysroot=" + _SYSROOT]

_COMPILE = _TARGET + [
    "-D__EMSCRIPTEN_major__=3",
    "-D__EMSCRIPTEN_minor__=1",
    "-D__EMSCRIPTEN_tiny__=6",
    "-DEMSCRIPTEN",
    # Of the libc++ that is linked.
    "-D_LIBCPP_ABI_VERSION=2",
    "-iwithsysroot/include/compat",
    "-fno-threadsafe-statics",
    "-fwasm-exceptions",
    "-mllvm",
    "-combiner-global-alias-analysis=false",
    "-mllvm",
    "-enable-emscripten-sjlj",
    "-mllvm",
    "-disable-lsr",
    "-DNDEBUG",
    # Keeps Abseil's stack traces off JavaScript.
    "-DSTANDALONE_WASM",
    "-O2",
    "-no-canonical-prefixes",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
]

_LINK = _TARGET + [
    "-nostdlib",
    "-Wl,--entry=_initialize",
    "-Wl,--strip-debug",
    "-Wl,-z,stack-size=5242880",
    "-Wl,--initial-memory=16777216",
    "-Wl,--max-memory=4294967296",
    "-Wl,--global-base=1024",
    _LIBRARIES + "/crt1_reactor.o",
]

_LIBS = ["-L" + _LIBRARIES] + ["-l" + name for name in [
    "standalonewasm-memgrow",
    "stubs",
    "noexit",
    "c",
    "dlmalloc",
    "compiler_rt",
    "c++-except",
    "c++abi-except",
    "unwind-except",
]]

def _flags(name, actions, flags):
    return feature(
        name = name,
        enabled = True,
        flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])],
    )

def _impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "wasm32",
        host_system_name = "local",
        target_system_name = "wasm32-unknown-emscripten",
        target_cpu = "wasm32",
        target_libc = "musl",
        compiler = "clang",
        abi_version = "emscripten",
        abi_libc_version = "3.1.6",
        builtin_sysroot = None,
        cxx_builtin_include_directories = [
            _SYSROOT + "/include",
            _LLVM + "/lib/clang/14.0.6/include",
        ],
        tool_paths = [
            tool_path(name = name, path = _LLVM + "/bin/" + tool)
            for name, tool in {
                "ar": "llvm-ar",
                "cpp": "clang-cpp",
                "gcc": "clang++",
                "gcov": "llvm-cov",
                "ld": "wasm-ld",
                "nm": "llvm-nm",
                "objdump": "llvm-objdump",
                "strip": "llvm-strip",
            }.items()
        ],
        features = [
            _flags("wasm_compile", [ACTION_NAMES.cpp_compile, ACTION_NAMES.c_compile], _COMPILE),
            _flags("wasm_link", [ACTION_NAMES.cpp_link_executable], _LINK),
            feature(name = "static_linking_mode"),
            _flags("wasm_libraries", [ACTION_NAMES.cpp_link_executable], _LIBS),
        ],
    )

wasm_toolchain_config = rule(
    implementation = _impl,
    attrs = {},
    provides = [CcToolchainConfigInfo],
)
