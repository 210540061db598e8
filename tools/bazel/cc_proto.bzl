"""C++ code from .proto files with the installed protoc."""

def cc_proto(name, srcs, visibility = None):
    """Declares a cc_library of the messages in srcs (files of this package)."""
    headers = [src.replace(".proto", ".pb.h") for src in srcs]
    sources = [src.replace(".proto", ".pb.cc") for src in srcs]
    native.genrule(
        name = name + "_cc",
        srcs = srcs,
        outs = headers + sources,
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) $(SRCS)",
        message = "Generating C++ protocol buffers",
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        deps = ["@protobuf//:protobuf"],
        visibility = visibility,
    )
