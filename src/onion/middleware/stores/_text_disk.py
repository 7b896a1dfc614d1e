"""How diskcache reads and writes for us: text, and nothing else."""

from __future__ import annotations

from pathlib import Path

import diskcache

MODE_RAW = 1  # a value in the row, in diskcache's own numbering
MODE_TEXT = 3  # a text in a file of its own


class TextDisk(diskcache.Disk):
    """Reads and writes text; refuses everything else.

    diskcache unpickles what it finds (CVE-2025-69872, no fixed release), and reads and removes the files that its rows
    name. Whoever can write to the folder would run code and reach other files.
    """

    def put(self, key: object) -> tuple[object, bool]:
        """The key as it is."""
        return text_in(key), True

    def get(self, key: object, raw: bool) -> object:  # noqa: FBT001 - diskcache's signature
        """The key as it is."""
        if not raw:
            raise _refused("a key that is pickled")
        return text_in(key)

    def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, str | None, object]:  # noqa: FBT001 - diskcache's signature
        """Write a text."""
        return super().store(text_in(value), read, key)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> object:  # noqa: FBT001 - diskcache's signature
        """Read a text."""
        if mode == MODE_TEXT and filename is not None and self._is_inside(filename):
            return super().fetch(mode, filename, value, read)
        if mode == MODE_RAW:
            return text_in(value)
        raise _refused("a value that is pickled, or lies outside of the folder")

    def remove(self, file_path: str) -> None:
        """Remove a file of the folder; leave others alone."""
        if self._is_inside(file_path):
            super().remove(file_path)

    def _is_inside(self, filename: str) -> bool:
        folder = Path(self._directory).resolve()
        return (folder / filename).resolve().is_relative_to(folder)


def text_in(found: object) -> str:
    """What was found, if it is text.

    Raises:
        ValueError: For anything else.
    """
    if isinstance(found, str):
        return found
    raise _refused(f"a {type(found).__name__}")


def _refused(what: str) -> ValueError:
    return ValueError(f"the folder holds {what}, which is refused: only text is kept here")
