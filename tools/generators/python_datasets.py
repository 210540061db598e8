"""Writes plugin/oom_forensics/datasets.py, the Python types of the datasets.

    python -m generators.python_datasets > plugin/oom_forensics/datasets.py

The file is kept in the repository, so that editors and mypy know the types; a test
tells when it is older than proto/datasets.
"""

from __future__ import annotations

import keyword
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from google.protobuf import descriptor_pb2

ROOT = Path(__file__).resolve().parents[2]
_HEADER = '''"""The datasets as Python types.

Written from proto/datasets by tools/generators/python_datasets.py; change that
and run `tools/generate`.
"""

from __future__ import annotations

import enum
from dataclasses import field
from typing import TYPE_CHECKING

from oom_forensics.message import Message

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    # Most programs use few of them, and to make all takes a tenth of a second.
    from oom_forensics.message import dataclass_when_used as dataclass
'''
_Field = descriptor_pb2.FieldDescriptorProto
_Path = tuple[int, ...]
_SCALARS = {
    _Field.TYPE_INT32: "int",
    _Field.TYPE_INT64: "int",
    _Field.TYPE_UINT32: "int",
    _Field.TYPE_UINT64: "int",
    _Field.TYPE_SINT64: "int",
    _Field.TYPE_DOUBLE: "float",
    _Field.TYPE_BOOL: "bool",
    _Field.TYPE_STRING: "str",
    _Field.TYPE_BYTES: "bytes",
}
_DEFAULTS = {"int": "0", "float": "0.0", "bool": "False", "str": '""', "bytes": 'b""'}
# Field numbers in descriptor.proto, of which a comment's path is made.
_FILE_MESSAGES, _FILE_ENUMS, _MESSAGE_FIELDS, _ENUM_VALUES = 4, 5, 2, 2


def generate() -> str:
    """Returns the module's text."""
    files = _parse_protos()
    first_values = {
        declared.name: declared.value[0].name for file in files for declared in file.enum_type
    }
    enums, messages = [], []
    for file in files:
        see = f"See {file.name}"
        comments = {
            tuple(location.path): (location.leading_comments or location.trailing_comments).strip()
            for location in file.source_code_info.location
        }
        for index, declared in enumerate(file.enum_type):
            enums.append("\n".join(_enum(declared, comments, (_FILE_ENUMS, index), see)))
        for index, message in enumerate(file.message_type):
            path = (_FILE_MESSAGES, index)
            messages.append("\n".join(_message(message, first_values, comments, path, see)))
    return "\n\n".join([_HEADER, *enums, *messages]) + "\n"


def _parse_protos() -> list[descriptor_pb2.FileDescriptorProto]:
    """Returns what proto/datasets.proto is made of, each file behind those that it imports."""
    with tempfile.NamedTemporaryFile() as output:
        command = ["protoc", f"--proto_path={ROOT}", "--include_imports", "--include_source_info"]
        command += [f"--descriptor_set_out={output.name}", "proto/datasets.proto"]
        subprocess.run(command, cwd=ROOT, check=True)
        return list(descriptor_pb2.FileDescriptorSet.FromString(output.read()).file)


def _enum(
    declared: descriptor_pb2.EnumDescriptorProto,
    comments: dict[_Path, str],
    path: _Path,
    see: str,
) -> Iterator[str]:
    yield f"class {declared.name}(str, enum.Enum):"
    yield from _docstring(comments.get(path) or f"{see}, {declared.name}.")
    yield ""
    for index, value in enumerate(declared.value):
        yield f'    {value.name} = "{value.name}"'
        yield from _docstring(comments.get((*path, _ENUM_VALUES, index), ""))


def _message(
    message: descriptor_pb2.DescriptorProto,
    first_values: dict[str, str],
    comments: dict[_Path, str],
    path: _Path,
    see: str,
) -> Iterator[str]:
    yield "@dataclass"
    yield f"class {message.name}(Message):"
    yield from _docstring(comments.get(path) or f"{see}, {message.name}.")
    yield ""
    for index, field in enumerate(message.field):
        name = field.name + "_" if keyword.iskeyword(field.name) else field.name
        yield f"    {name}: {_type_and_default(field, first_values)}"
        yield from _docstring(comments.get((*path, _MESSAGE_FIELDS, index), ""))


def _type_and_default(
    field: descriptor_pb2.FieldDescriptorProto, first_values: dict[str, str]
) -> str:
    name = _type_name(field)
    if field.label == _Field.LABEL_REPEATED:
        return f"list[{name}] = field(default_factory=list)"
    if field.proto3_optional or field.HasField("oneof_index"):
        return f"{name} | None = None"
    if field.type == _Field.TYPE_MESSAGE:
        return f"{name} = field(default_factory=lambda: {name}())"
    if field.type == _Field.TYPE_ENUM:
        return f"{name} = {name}.{first_values[name]}"
    return f"{name} = {_DEFAULTS[name]}"


def _type_name(field: descriptor_pb2.FieldDescriptorProto) -> str:
    if field.type in (_Field.TYPE_MESSAGE, _Field.TYPE_ENUM):
        return str(field.type_name).rpartition(".")[2]
    return _SCALARS[field.type]


def _docstring(comment: str) -> Iterator[str]:
    lines = [line.strip().replace("\\", "\\\\") for line in comment.splitlines()]
    if not lines:
        return
    lines[0] = lines[0][0].upper() + lines[0][1:]
    if lines[0].startswith('"'):
        lines[0] = "\\" + lines[0]
    if len(lines) == 1 and not lines[0].endswith('"'):
        yield f'    """{lines[0]}"""'
        return
    yield f'    """{lines[0]}'
    yield from (f"    {line}".rstrip() for line in lines[1:])
    yield '    """'


if __name__ == "__main__":
    sys.stdout.write(generate())
