"""The collector that TensorFlow loaded into this process.

TensorFlow loads every library in `site-packages/tensorflow-plugins/` by itself: ours is
the loader (collector/loader), which loads the collector from a folder beside it. This
module finds the collector that is there and calls its C functions (collector/c_api.h).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from oom_forensics.in_training.garbage_collection import WithoutGarbageCollection
from oom_forensics.remote.addresses import whole_path

FILE_NAME = "liboom_forensics_collector.so"
PATH_IN_SITE_PACKAGES = Path("tensorflow-plugins/oom_forensics") / FILE_NAME


def loaded_path() -> Path | None:
    """Returns the file of the collector in this process; None where there is none.

    With several installations on Python's path it is the one that TensorFlow began to use.
    """
    # Each once; a library has several lines.
    paths = dict.fromkeys(
        line[line.find("/") :]
        for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
        if line.endswith("/" + FILE_NAME)
    )
    for path in paths:
        if len(paths) == 1 or CollectorLibrary(Path(path)).is_active():
            return Path(path)
    return None


class KnownFrame(ctypes.Structure):
    """A frame of the calling thread: OomForensics_Frame of collector/c_api.h."""

    _fields_ = (
        ("code", ctypes.c_uint64),
        ("instruction", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("file", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
    )


def _never_freed(callback: Any) -> Any:
    """Returns a callback for C, which a thread may be in even when Python has ended."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


class CollectorLibrary:
    """The C functions of a collector that is in this process."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._free = self._library.OomForensics_Free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None
        self._tensor_address = self._library.OomForensics_TensorAddress
        self._tensor_address.argtypes = [ctypes.c_uint64]
        self._tensor_address.restype = ctypes.c_uint64
        self._begin_step = self._library.OomForensics_BeginStep
        self._begin_step.argtypes = [ctypes.c_int64]
        self._begin_step.restype = ctypes.c_int

        # Python's lock is kept in it.
        self._with_lock = ctypes.PyDLL(str(path))
        objects, ids, count = ctypes.py_object, ctypes.c_char_p, ctypes.c_uint64
        for function, arguments in (
            ("NextObjects", [objects, objects, count, count]),
            ("ObjectsWithIds", [objects, ids, count, ids, count]),
            ("ReadReferences", [objects, objects, objects, count, count, count]),
        ):
            of_heap = getattr(self._with_lock, f"OomForensics_{function}")
            of_heap.argtypes = arguments
            of_heap.restype = ctypes.py_object

        self._begin_activity = self._library.OomForensics_BeginActivity
        self._begin_activity.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
        self._end_activity = self._library.OomForensics_EndActivity
        self._end_activity.argtypes = [
            ctypes.c_int,
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.c_char_p,
        ]
        self._end_activity.restype = None

    @classmethod
    def loaded(cls) -> CollectorLibrary | None:
        """Returns the collector in this process; None where there is none."""
        path = loaded_path()
        return cls(path) if path else None

    def status(self) -> dict[str, Any]:
        """Returns what is hooked in this process and what not, and why."""
        return self._json_of("OomForensics_Status")

    def is_active(self) -> bool:
        """Whether TensorFlow has loaded the collector, not only this process."""
        return bool(self.status().get("loaded", True))

    def check_setting(self, name: str, value: str) -> str | None:
        """Returns what is wrong with a setting's value, as a sentence, or None."""
        return self._text_of("OomForensics_CheckSetting", name.encode(), value.encode())

    def configure(self, name: str, value: str) -> str | None:
        """Changes a setting; returns why that is not possible, or None."""
        return self._text_of("OomForensics_Configure", name.encode(), value.encode())

    def tensor_address(self, tensor: object) -> int:
        """Returns where the buffer of an EagerTensor lies; 0 where that is not known.

        For the handle of a variable it is the buffer of the variable's value.
        """
        return int(self._tensor_address(id(tensor)))

    def next_objects(self, kinds: tuple[type, ...], after: int, most: int) -> list[Any]:
        """Returns the objects of these classes, or derived ones, with the next ids above `after`.

        Tuples that C may be filling are left out (collector/python/heap.h).
        """
        found = self._with_lock.OomForensics_NextObjects(gc.get_objects, kinds, after, most)
        return cast("list[Any]", found)

    def objects_with_ids(self, ids: Iterable[int], finished: Iterable[int]) -> list[Any]:
        """Returns the objects with these ids that live; `finished` are tuples that C has filled."""
        wanted, sure = sorted(ids), sorted(finished)
        found = self._with_lock.OomForensics_ObjectsWithIds(
            gc.get_objects,
            array("Q", wanted).tobytes(),
            len(wanted),
            array("Q", sure).tobytes(),
            len(sure),
        )
        return cast("list[Any]", found)

    def references(
        self,
        kinds: tuple[type, ...],
        passed_over: tuple[type, ...],
        after: int,
        most: int,
        most_references: int,
    ) -> tuple[int, bytes, bytes, bytes, bytes]:
        """Returns what the next `most` objects above `after` lead to.

        The last id that was looked at, 0 for none; the ids of the objects, their kinds, the ends
        of their references and the ids these lead to: ReadReferences() of collector/python/heap.h.
        """
        read = self._with_lock.OomForensics_ReadReferences(
            gc.get_objects, kinds, passed_over, after, most, most_references
        )
        return cast("tuple[int, bytes, bytes, bytes, bytes]", tuple(read))

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """While it lasts, no refusal that the calling thread meets is reported as the job's."""
        self._library.OomForensics_SetLooking(1)
        try:
            yield
        finally:
            self._library.OomForensics_SetLooking(0)

    def learn_logdir(self, logdir: str) -> None:
        """Tells the collector where a session or callback of this process writes to, if it does."""
        # A path of a working directory that is gone leads nowhere.
        with contextlib.suppress(OSError):
            if logdir:
                self._library.OomForensics_LearnLogdir(os.fsencode(whole_path(logdir)))

    def begin_step(self, step: int) -> bool:
        """Says that a training step begins; -1: the last one is over.

        Returns:
          Whether a snapshot was written for it (setting `snapshot_at`).
        """
        return bool(self._begin_step(step))

    def begin_activity(self, kind: int, name: str, where: str) -> int:
        """Tells the black box what begins (core/black_box.h, Activity); returns what ends it."""
        return int(
            self._begin_activity(kind, os.fsencode(name), where.encode("utf-8", "backslashreplace"))
        )

    def end_activity(self, activity: int, live: int, element_bytes: int, what: str) -> None:
        """Says that it has ended."""
        if activity >= 0:
            text = what.encode("utf-8", "backslashreplace")
            self._end_activity(activity, live, element_bytes, text)

    def on_shortage(self, look: Callable[[int, int], None] | None) -> None:
        """Has `look` called as the memory of the host gets short.

        It gets the percentage in use and the bytes that are left, in a thread of the collector's
        own; what it raises is swallowed. None ends that, and waits a few seconds for a look that
        is under way.
        """

        def called(percent: int, left_bytes: int) -> None:
            with WithoutGarbageCollection(), contextlib.suppress(Exception):
                if look is not None:
                    look(percent, left_bytes)

        kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint64)
        self._library.OomForensics_OnShortage(_never_freed(kind(called) if look else kind(0)))

    def end_by_memory_error(self) -> None:
        """Says that the process ends by a MemoryError that nothing caught."""
        self._library.OomForensics_EndByMemoryError()

    def start_stacks(self, hexversion: int, frames: list[KnownFrame]) -> str | None:
        """Begins to take the stacks of allocations; returns why that is not possible, or None.

        Args:
          hexversion: sys.hexversion.
          frames: All of the calling thread, innermost first.
        """
        described = (KnownFrame * len(frames))(*frames)
        return self._text_of(
            "OomForensics_StartStacks",
            ctypes.c_uint32(hexversion),
            described,
            ctypes.c_uint64(len(frames)),
        )

    def stop_stacks(self) -> None:
        """Ends that; Python is about to end."""
        self._library.OomForensics_StopStacks()

    def set_source_roots(self, library_prefixes: list[str], project_root: str) -> None:
        """Says where libraries lie, and the user's project."""
        self._library.OomForensics_SetSourceRoots(
            os.fsencode("\n".join(library_prefixes)), os.fsencode(project_root)
        )

    def snapshot(self, logdir: str) -> tuple[str | None, str]:
        """Writes a snapshot; returns its folder, or None and why."""
        error = ctypes.c_void_p()
        folder = self._text_of("OomForensics_Snapshot", os.fsencode(logdir), ctypes.byref(error))
        return folder, self._take(error.value) or ""

    def start_recording(self) -> str | None:
        """Keeps all events from now on; returns a sentence if that was begun already."""
        return self._text_of("OomForensics_StartRecording")

    def stop_recording(self, logdir: str) -> tuple[str | None, str]:
        """Ends that and writes a trace; returns its folder, or None and why."""
        error = ctypes.c_void_p()
        folder = self._text_of(
            "OomForensics_StopRecording", os.fsencode(logdir), ctypes.byref(error)
        )
        return folder, self._take(error.value) or ""

    def start_evidence(self, look: Callable[[dict[str, Any]], None]) -> None:
        """Has `look` called at an out-of-memory, in a thread of the collector's own.

        It gets the question of collector/flight_recorder/python_evidence.h; what it raises is
        swallowed.
        """

        def called(question: bytes) -> None:
            with WithoutGarbageCollection(), contextlib.suppress(Exception):
                look(json.loads(question))

        # ctypes takes Python's lock for it.
        callback = _never_freed(ctypes.CFUNCTYPE(None, ctypes.c_char_p)(called))
        self._library.OomForensics_StartEvidence(callback)

    def add_evidence(self, incident: int, planes: bytes) -> bool:
        """Hands over planes of an incident; returns whether more are wanted."""
        return bool(
            self._library.OomForensics_AddEvidence(
                ctypes.c_uint64(incident), planes, ctypes.c_uint64(len(planes))
            )
        )

    def stop_evidence(self) -> None:
        """Ends that; Python is about to end. Waits, a moment, for what is being written."""
        self._library.OomForensics_StopEvidence()

    def take_written_runs(self) -> list[dict[str, str]]:
        """Returns the runs written since the last call: "trace", "origin", "address_shift"...."""
        text = self._text_of("OomForensics_TakeWrittenRuns")
        return cast("list[dict[str, str]]", json.loads(text or "[]"))

    def memory_stats(self) -> list[dict[str, Any]]:
        """Returns the state of every allocator."""
        text = self._text_of("OomForensics_MemoryStats")
        return cast("list[dict[str, Any]]", json.loads(text or "[]"))

    def live_state(self) -> dict[str, Any]:
        """Returns the counters of every allocator, without their maps, the step and growth."""
        return self._json_of("OomForensics_LiveState")

    def last_run(self) -> str | None:
        """Returns the folder of the run that the last out-of-memory or snapshot left."""
        return self._text_of("OomForensics_LastRun")

    def summary_for(self, message: str) -> str | None:
        """Returns the story of the out-of-memory that an error tells of, a few lines."""
        return self._text_of("OomForensics_SummaryFor", message.encode())

    def library_failure(self, message: str) -> str | None:
        """Returns what an error hides in which a library had no memory; None: it does not."""
        return self._text_of("OomForensics_LibraryFailure", message.encode())

    def _json_of(self, function_name: str) -> dict[str, Any]:
        """Calls a function that returns a JSON object for its caller to free."""
        return cast("dict[str, Any]", json.loads(self._text_of(function_name) or "{}"))

    def _text_of(self, function_name: str, *arguments: object) -> str | None:
        """Calls a function that returns text, or null, for its caller to free."""
        function = getattr(self._library, function_name)
        function.restype = ctypes.c_void_p
        return self._take(function(*arguments))

    def _take(self, text: int | None) -> str | None:
        if not text:
            return None
        try:
            return os.fsdecode(ctypes.string_at(text))
        finally:
            self._free(text)
