"""A tar archive of plain files, read front to back with bounded memory.

Reads what our own backups are made of: files (ustar), and the extended header that gives a long name
or a size beyond 8 GiB (pax). Links, folders, devices, sparse files and GNU's long names are refused:
no backup has them. `tarfile` would hold an extended header in memory whatever its size is.
"""

from collections.abc import Callable

BLOCK_BYTES = 512
# A path and a size. Python's own headers have some hundred bytes.
MAX_EXTENDED_BYTES = 16 * 1024
_OTHER_KINDS = {
    b"1": "a link",
    b"2": "a link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a folder",
    b"6": "a pipe",
    b"S": "a sparse file",
}


class TapeError(Exception):
    """This is no archive of plain files, or a damaged one."""


class Tape:
    """`read` gives up to so many bytes of the archive, none at its end."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._source = read
        # What is still to come of the file that was found last, with what fills its block.
        self._left = 0
        self._filling = 0

    def next(self) -> tuple[str, int] | None:
        """Name and size of the next file; None at the end. Raises TapeError."""
        while self.read(1 << 16):
            pass
        self._exactly(self._filling)
        self._filling = 0
        extended: dict[str, str] = {}
        while (header := self._exactly(BLOCK_BYTES, may_end=True)).strip(b"\0"):
            _check_sum(header)
            kind, size = header[156:157], _number(header[124:136])
            if kind == b"x" and not extended:
                if size > MAX_EXTENDED_BYTES:
                    raise TapeError(f"an extended header has {size} bytes, and at most {MAX_EXTENDED_BYTES}")
                extended = _records(self._exactly(size))
                self._exactly(-size % BLOCK_BYTES)
                continue
            name = extended.get("path", _name(header))
            if kind not in (b"0", b"\0"):
                what = _OTHER_KINDS.get(kind, "of a kind that no backup has")
                raise TapeError(f"{name[:200]!r} is {what}, not a file")
            self._left = _size(extended.get("size", str(size)))
            self._filling = -self._left % BLOCK_BYTES
            return name, self._left
        return None

    def read(self, most: int) -> bytes:
        """The next bytes of the file that was found last. Raises TapeError."""
        if not self._left:
            return b""
        data = self._source(min(most, self._left))
        if not data:
            raise TapeError("the archive is cut off")
        self._left -= len(data)
        return data

    def _exactly(self, size: int, *, may_end: bool = False) -> bytes:
        pieces = b""
        while len(pieces) < size:
            piece = self._source(size - len(pieces))
            if not piece:
                if may_end and not pieces:
                    return b""
                raise TapeError("the archive is cut off")
            pieces += piece
        return pieces


def _check_sum(header: bytes) -> None:
    if _number(header[148:156]) != sum(header[:148]) + 8 * ord(" ") + sum(header[156:]):
        raise TapeError("a header's checksum is wrong: this is no tar archive, or a damaged one")


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not all(byte in b"01234567" for byte in text):
        raise TapeError("a header has a number that is none")
    return int(text or b"0", 8)


def _name(header: bytes) -> str:
    name, prefix = (part.partition(b"\0")[0] for part in (header[:100], header[345:500]))
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "replace")


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise TapeError(f"a size is {text[:40]!r}")
    return int(text)


def _records(data: bytes) -> dict[str, str]:
    """Of an extended header: the length of the line, a space, `name=value`, the end of the line."""
    found: dict[str, str] = {}
    while data:
        length, _, _ = data[:8].partition(b" ")
        size = int(length) if length.isdigit() else 0
        line, data = data[:size], data[size:]
        name, equals, value = line[len(length) + 1 : -1].decode("utf-8", "replace").partition("=")
        if not line.endswith(b"\n") or len(line) != size or not equals:
            raise TapeError("an extended header cannot be read")
        if name.startswith("GNU.sparse") or name == "linkpath":
            raise TapeError("an extended header is one of a sparse file or a link")
        found[name] = value
    return found
