"""A look leaves the program's garbage where it is."""

from __future__ import annotations

import gc


class WithoutGarbageCollection:
    """While it lasts, Python looks for no cycles.

    What ends in one would end in the thread that looks: code of the program's would run there, and
    what TensorFlow frees may wait for the very step that stands still. It also takes longer than
    most looks.
    """

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        # The next object that is made begins what is due. So a thread of the collector's comes
        # here last.
        if self._was_enabled:
            gc.enable()
