"""What a user sees of an error."""

from __future__ import annotations

import pickle
import sys

import pytest
import tensorflow as tf

from oom_forensics.in_training.activation import _add_note

NOTE = "OOM Forensics: 1.17 GiB were asked for"


def error() -> tf.errors.ResourceExhaustedError:
    return tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")


def test_a_note_stands_under_the_error() -> None:
    annotated = error()
    _add_note(annotated, NOTE)
    if sys.version_info >= (3, 11):
        assert annotated.__notes__ == [NOTE]
    else:
        assert str(annotated).endswith(f"\n{NOTE}")


def test_without_notes_it_ends_the_message_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.10, on which the tests do not run."""
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    annotated = error()
    _add_note(annotated, NOTE)
    assert str(annotated) == f"OOM when allocating tensor\n{NOTE}"
    again = pickle.loads(pickle.dumps(annotated))
    _add_note(again, NOTE)
    assert str(again).count(NOTE) == 1
