"""All C++ of the repository below some libraries as a few large sources.

Most of the time that a file takes to compile goes into the headers that it includes. So the files
of a package are compiled as one: a quarter of the time for the whole converter.
"""

_Sources = provider(fields = {
    "files": "depset of .cc files of this repository",
    "links": "depset of what libraries of other repositories link",
    "tests": "list of .cc files of a test",
    "headers": "list of CcInfo, of what a test includes",
})

def _collect_impl(target, ctx):
    own = []
    if ctx.rule.kind in ["cc_library", "cc_test"]:
        own = [file for file in ctx.rule.files.srcs if file.extension == "cc" and file.is_source]
    is_test = ctx.rule.kind == "cc_test"
    deps = getattr(ctx.rule.attr, "deps", [])
    if target.label.workspace_name:
        return [_Sources(
            files = depset(),
            links = target[CcInfo].linking_context.linker_inputs if CcInfo in target else depset(),
            tests = [],
            headers = [],
        )]
    return [_Sources(
        files = depset([] if is_test else own, transitive = [
            dep[_Sources].files
            for dep in deps
            if _Sources in dep
        ]),
        links = depset(order = "topological", transitive = [
            dep[_Sources].links
            for dep in deps
            if _Sources in dep
        ]),
        tests = own if is_test else [],
        headers = [dep[CcInfo] for dep in deps] if is_test else [],
    )]

_collect = aspect(implementation = _collect_impl, attr_aspects = ["deps"])

def _sources_below(targets, without):
    left_out = depset(transitive = [each[_Sources].files for each in without]).to_list()
    files = depset(transitive = [each[_Sources].files for each in targets]).to_list()
    return [file for file in files if file not in left_out]

def _unite(ctx, files, alone = []):
    """A source for each package, and for each file of `alone`, that includes the files."""
    by_package = {}
    for path in sorted([file.path for file in files]):
        name = path if path in alone else path.rpartition("/")[0]
        by_package.setdefault(name, []).append(path)
    outputs = []
    for name, paths in by_package.items():
        output = ctx.actions.declare_file("%s/%s.cc" % (ctx.label.name, name.replace("/", "_").replace(".cc", "")))
        ctx.actions.write(output, "".join(["#include \"%s\"\n" % path for path in paths]))
        outputs.append(output)
    return outputs

def _unity_sources_impl(ctx):
    files = _sources_below(ctx.attr.deps, ctx.attr.without)
    return _including(files, _unite(ctx, files, ctx.attr.alone), [dep[CcInfo] for dep in ctx.attr.deps], ctx.attr.deps)

def _including(files, outputs, infos, targets):
    """What a target gives whose outputs include the files below the targets, which need the headers of others."""
    included = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(files)))
    merged = cc_common.merge_cc_infos(cc_infos = [included] + infos)
    return [
        DefaultInfo(files = depset(outputs)),
        CcInfo(
            compilation_context = merged.compilation_context,
            # Of other repositories' libraries only: what ours would link is compiled elsewhere, or here.
            linking_context = cc_common.create_linking_context(linker_inputs = depset(
                order = "topological",
                transitive = [target[_Sources].links for target in targets],
            )),
        ),
    ]

unity_sources = rule(
    implementation = _unity_sources_impl,
    doc = "Named in `srcs` its sources, named in `deps` the headers that they want.",
    attrs = {
        "alone": attr.string_list(
            doc = "Files that have a name in common with another one of their package: each is compiled by itself.",
        ),
        "deps": attr.label_list(
            aspects = [_collect],
            providers = [CcInfo],
        ),
        "without": attr.label_list(
            aspects = [_collect],
            doc = "Libraries whose sources are compiled elsewhere.",
        ),
    },
)

# The arguments are the output and the tests. First what they all include, once. Then each test in a namespace of its own that sees ours, so that
# what two have for themselves may have one name.
_UNITE_TESTS = """
output=$1
shift
grep --no-filename '^#include' "$@" | sort --unique >"$output"
number=0
for file; do
  own=test_file_$((number += 1))
  echo "namespace oom_forensics {}"
  echo "namespace $own { using namespace ::oom_forensics; }"
  echo "#define oom_forensics $own"
  echo '#include "'"$file"'"'
  echo "#undef oom_forensics"
done >>"$output"
"""

def _unity_tests_impl(ctx):
    libraries = _sources_below(ctx.attr.tests, ctx.attr.without)
    outputs = _unite(ctx, libraries)
    tests = []
    headers = []
    for test in ctx.attr.tests:
        tests += test[_Sources].tests
        headers += test[_Sources].headers
    for part in range(ctx.attr.parts):
        own = tests[part::ctx.attr.parts]
        output = ctx.actions.declare_file("%s/part_%d.cc" % (ctx.label.name, part + 1))
        ctx.actions.run_shell(
            inputs = own,
            outputs = [output],
            command = _UNITE_TESTS,
            arguments = [output.path] + [file.path for file in own],
            mnemonic = "UniteTests",
        )
        outputs.append(output)
    return _including(libraries + tests, outputs, headers, ctx.attr.tests)

unity_tests = rule(
    implementation = _unity_tests_impl,
    doc = "The sources of tests and of the libraries below them; to be named in `srcs` and in `deps`.",
    attrs = {
        "parts": attr.int(
            default = 1,
            doc = "How many sources are made of the tests, to be compiled beside each other.",
        ),
        "tests": attr.label_list(
            aspects = [_collect],
            doc = "Targets of the kind cc_test.",
        ),
        "without": attr.label_list(
            aspects = [_collect],
            doc = "Libraries whose sources are compiled elsewhere.",
        ),
    },
)
