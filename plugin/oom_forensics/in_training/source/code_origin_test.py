"""The user's code is what is neither Python's nor installed, unless a setting says otherwise."""

from __future__ import annotations

import json
import linecache
from pathlib import Path

import pytest
import tensorflow as tf

from oom_forensics.in_training.source.code_origin import CodeOrigin


def test_scripts_notebooks_and_prompts_are_the_users() -> None:
    origin = CodeOrigin()
    for file in ("/home/me/train.py", "/tmp/ipykernel_12/34.py", "<stdin>", "<string>"):
        assert origin.is_user(file), file


@pytest.mark.parametrize("file", [json.__file__, linecache.__file__, tf.__file__, "<frozen os>"])
def test_pythons_library_and_installed_packages_are_not(file: str) -> None:
    assert not CodeOrigin().is_user(file)


def test_the_longest_prefix_of_a_setting_decides() -> None:
    tensorflow = Path(tf.__file__).parent
    origin = CodeOrigin(
        user_paths=str(tensorflow),
        library_paths=f"{tensorflow / 'python'}:/home/me/vendored",
    )
    assert origin.is_user(str(tensorflow / "__init__.py"))
    assert not origin.is_user(str(tensorflow / "python/ops/math_ops.py"))
    assert not origin.is_user("/home/me/vendored/layers.py")
    assert origin.is_user("/home/me/vendored_not/layers.py")
