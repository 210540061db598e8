"""Takes stacks in all the ways that Python runs code; each has to be the one that Python says.

Runs in any CPython, without TensorFlow: `take_stacks.py PROBE_LIBRARY`. Prints what is
measured; anything that is not as expected is an AssertionError.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
import time

MOST_FRAMES = 16


class KnownFrame(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint64),
        ("instruction", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("file", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
    )


# CDLL releases Python's lock around a call, as TensorFlow does when it runs an op.
probe = ctypes.CDLL(sys.argv[1])
probe.Probe_Start.restype = ctypes.c_char_p
probe.Probe_Start.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64]
probe.Probe_Text.restype = ctypes.c_char_p
probe.Probe_Take.restype = ctypes.c_uint32
probe.Probe_Dropped.restype = ctypes.c_uint64
probe.Probe_TakeMany.argtypes = [ctypes.c_uint64]


def start(version):
    # So few frames as a script has prove nothing.
    return (lambda: _start(version))()


def _start(version):
    frames = []
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        instruction = frame.f_lasti if frames else -1
        file, name = code.co_filename.encode(), code.co_name.encode()
        frames.append(KnownFrame(id(code), instruction, frame.f_lineno or 0, file, name))
        frame = frame.f_back
    return probe.Probe_Start(version, (KnownFrame * len(frames))(*frames), len(frames))


def expected(frame):
    lines = []
    while frame is not None and len(lines) < MOST_FRAMES:
        code = frame.f_code
        lines.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return lines


def taken():
    """Returns the frames from the caller on, as the library reads them."""
    # Where the table is busy for long, as on a machine with much else to do, a stack is dropped.
    for _ in range(100):
        stack = probe.Probe_Take()
        if stack:
            break
    assert stack, f"no stack was taken; {probe.Probe_Dropped()} were dropped"
    text = probe.Probe_Text(stack).decode()
    frames = [tuple(line.split("\x1f")) for line in text.splitlines()]
    return [(file.lstrip("*"), int(line), name) for file, line, name in frames][1:]


def check():
    read = taken()[1:]
    told = expected(sys._getframe(1))[: MOST_FRAMES - 2]
    assert read == told, f"\nread {read}\ntold {told}"


def decorated(function):
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


@decorated
def in_decorated(depth=0):
    check()
    if depth:
        in_decorated(depth - 1)


def in_generator():
    for _ in range(3):
        check()
        yield


async def in_coroutine(name):
    check()
    await asyncio.sleep(0)
    check()
    return name


async def in_async_generator():
    yield check()
    await asyncio.sleep(0)
    yield check()


async def gather():
    await asyncio.gather(*(in_coroutine(name) for name in range(4)))
    async for _ in in_async_generator():
        check()


def make_class():
    class InClass:
        check()

        def __init__(self):
            check()

        @property
        def read(self):
            return check()

        def __enter__(self):
            check()

        def __exit__(self, *_):
            check()

    return InClass


def in_exception():
    try:
        try:
            raise ValueError
        except ValueError:
            check()
            raise KeyError from None
        finally:
            check()
    except KeyError:
        check()


def everything():
    in_decorated(20)
    list(in_generator())
    [check() for _ in range(2)]
    {check(): check() for _ in range(2)}
    sorted([3, 1, 2], key=lambda _: check() or 0)
    in_class = make_class()
    with in_class() as _:
        check()
    _ = in_class().read
    in_exception()
    asyncio.run(gather())
    exec("def f():\n\n    check()\nf()", {"check": check})
    eval("[check() for _ in range(2)]", {"check": check})


def reused_code():
    """New code again and again at the same addresses: never a line of the old one."""
    for i in range(3000):
        blank = i * 7 % 250
        namespace = {"taken": taken}
        source = "\n" * blank + "def f():\n    return taken()\nfound = f()"
        exec(compile(source, f"cell{i % 13}", "exec"), namespace)
        found = namespace["found"]
        assert found[0] == (f"cell{i % 13}", blank + 2, "f"), (i, found)
        assert found[1] == (f"cell{i % 13}", blank + 3, "<module>"), (i, found)
        del namespace, source


def in_threads():
    failures = []

    def work():
        try:
            for _ in range(20):
                everything()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def fork():
    """A child takes stacks though other threads of its parent were taking some."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            reused = {"check": check}
            exec(compile("\n" * (time.monotonic_ns() % 97) + "check()", "f", "exec"), reused)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                everything()
                os._exit(0)
            deadline = time.monotonic() + 60
            while True:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    break
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    raise AssertionError("a child hangs")
                time.sleep(0.01)
            assert status == 0, status
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def refuses_other_layouts():
    for minor in (8, 9, 10, 11, 12, 13, 14):
        if minor != sys.version_info.minor:
            why = start(0x03000000 | minor << 16)
            assert why, f"the layout of 3.{minor} passed for this Python's"
            assert not probe.Probe_Take()


if "--no-other-layouts" not in sys.argv:
    refuses_other_layouts()
why = start(sys.hexversion)
if why:
    print("refused:", why.decode())
    sys.exit(3)
everything()
sys.settrace(lambda *_: None)
everything()
sys.settrace(None)
reused_code()
in_threads()
if "--no-fork" not in sys.argv:
    fork()


def deep(depth, function):
    return deep(depth - 1, function) if depth else function()


def measure():
    begin = time.process_time_ns()
    probe.Probe_TakeMany(200_000)
    return (time.process_time_ns() - begin) / 200_000


for depth in (10, 30):
    print(f"{deep(depth, measure):.0f} ns at depth {depth + 2}")
print("dropped", probe.Probe_Dropped())
