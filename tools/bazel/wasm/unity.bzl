"""All C++ of the repository below some libraries as a few large sources.

Most of the time that a file takes to compile goes into the headers that it includes. So the files
of a package are compiled as one: a quarter of the time for the whole converter.
"""

_Sources = provider(fields = {"files": "depset of .cc files of this repository"})

def _collect_impl(target, ctx):
    own = []
    if not target.label.workspace_name and ctx.rule.kind == "cc_library":
        own = [file for file in ctx.rule.files.srcs if file.extension == "cc" and file.is_source]
    deps = getattr(ctx.rule.attr, "deps", [])
    return [_Sources(files = depset(own, transitive = [
        dep[_Sources].files
        for dep in deps
        if _Sources in dep
    ]))]

_collect = aspect(implementation = _collect_impl, attr_aspects = ["deps"])

def _unity_sources_impl(ctx):
    left_out = depset(transitive = [dep[_Sources].files for dep in ctx.attr.without]).to_list()
    files = depset(transitive = [dep[_Sources].files for dep in ctx.attr.deps]).to_list()
    files = [file for file in files if file not in left_out]
    by_package = {}
    for path in sorted([file.path for file in files]):
        name = path if path in ctx.attr.alone else path.rpartition("/")[0]
        by_package.setdefault(name, []).append(path)
    outputs = []
    for name, paths in by_package.items():
        output = ctx.actions.declare_file("%s/%s.cc" % (ctx.label.name, name.replace("/", "_").replace(".cc", "")))
        ctx.actions.write(output, "".join(["#include \"%s\"\n" % path for path in paths]))
        outputs.append(output)
    included = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(files)))
    merged = cc_common.merge_cc_infos(cc_infos = [included] + [dep[CcInfo] for dep in ctx.attr.deps])
    return [
        DefaultInfo(files = depset(outputs)),
        # Without what the libraries would link: it is compiled here.
        CcInfo(compilation_context = merged.compilation_context),
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
