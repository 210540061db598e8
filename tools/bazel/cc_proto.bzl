"""C++ code from .proto files with the installed protoc."""

# protoc makes a source of each file, and most of the time that one takes to compile goes into
# protobuf's own headers. So they are compiled as one: first all that they include, then each with
# names of its own for the two that every one of them has for itself.
_UNITE = """
sources="{sources}"
(cd $(GENDIR) && grep --no-filename '^#include' $$sources | grep --invert-match 'port_\\(un\\)\\?def.inc' | sort --unique)
number=0
for source in $$sources; do
  : $$((number += 1))
  echo "#define schemas schemas_$$number"
  echo "#define file_default_instances file_default_instances_$$number"
  echo "#include \\"$$source\\""
  echo "#undef schemas"
  echo "#undef file_default_instances"
done
"""

def cc_proto(name, srcs, visibility = None):
    """Declares a cc_library of the messages in srcs (files of this package)."""
    headers = [src.replace(".proto", ".pb.h") for src in srcs]
    sources = [src.replace(".proto", ".pb.cc") for src in srcs]
    united = name + "_united.cc"
    unite = _UNITE.format(sources = " ".join(["%s/%s" % (native.package_name(), source) for source in sources]))
    native.genrule(
        name = name + "_cc",
        srcs = srcs,
        outs = headers + sources + [united],
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) $(SRCS) && (%s) >$(RULEDIR)/%s" % (unite, united),
        message = "Generating C++ protocol buffers",
    )
    native.cc_library(
        name = name,
        srcs = [united],
        hdrs = headers,
        copts = ["-w"],
        textual_hdrs = sources,
        deps = ["@protobuf//:protobuf"],
        visibility = visibility,
    )
