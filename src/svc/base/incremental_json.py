"""Reads JSON of any length, one value at a time.

Keeps only one value and some of the text after it in memory. Every error is a ValueError. Follows RFC 8259:
UTF-8 (with or without a byte order mark), no NaN.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator

_CHUNK_BYTES = 64 * 1024
_SPACE = " \t\n\r"
_NUMBER = re.compile(r"[-0-9][-+.0-9eE]*")


class JsonStream:
    """A JSON document. `read` returns up to the given number of bytes, and none at the end. `max_characters`
    is the maximum length of a value.
    """

    def __init__(self, read: Callable[[int], bytes], max_characters: int) -> None:
        self._read = read
        self._max_characters = max_characters
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._parser = json.JSONDecoder(parse_constant=_refuse_constant)
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the first character of the next token, or an empty string at the end. Raises ValueError."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._read_more(_CHUNK_BYTES):
                return self._text[self._at : self._at + 1]

    def value(self) -> object:
        """Read and return the next value. Raises ValueError."""
        self.peek()
        while True:
            try:
                value, end = self._parser.raw_decode(self._text, self._at)
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except json.JSONDecodeError as fault:
                if len(self._text) - self._at <= self._max_characters and self._read_more(
                    len(self._text) - self._at
                ):
                    continue
                self._refuse_long(len(self._text))
                raise ValueError(f"not JSON: {fault.msg}") from None
            self._refuse_long(end)
            # A number may continue in the unread text, and its first digits alone look like a complete
            # number.
            if _NUMBER.fullmatch(self._text, self._at) and self._read_more(_CHUNK_BYTES):
                continue
            self._at = end
            return value

    def items(self) -> Iterator[None]:
        """Yield before each value in a list. The caller must read the value before resuming the iterator.
        Raises ValueError.
        """
        self._take("[")
        yield from self._iterate_items("]")

    def names(self) -> Iterator[str]:
        """Yield each name in an object. The caller must read the value before asking for the next name.
        Raises ValueError.
        """
        self._take("{")
        for _ in self._iterate_items("}"):
            name = self.value() if self.peek() == '"' else None
            if not isinstance(name, str):
                raise ValueError("not JSON: a name was expected")
            self._take(":")
            yield name

    def end(self) -> None:
        """Check that the document has ended. Raises ValueError."""
        if self.peek():
            raise ValueError("there is more data after the end")

    def _iterate_items(self, last: str) -> Iterator[None]:
        if self.peek() != last:
            yield
            while self.peek() == ",":
                self._take(",")
                yield
        self._take(last)

    def _take(self, expected: str) -> None:
        if self.peek() != expected:
            raise ValueError(f"not JSON: {expected} was expected")
        self._at += 1

    def _refuse_long(self, end: int) -> None:
        if end - self._at > self._max_characters:
            raise ValueError(f"a value has more than {self._max_characters} characters")

    def _read_more(self, wanted: int) -> bool:
        """Read more text, unless the document has ended."""
        if self._ended:
            return False
        data = self._read(max(wanted, _CHUNK_BYTES))
        self._ended = not data
        self._text = self._text[self._at :] + self._decoder.decode(data, final=self._ended)
        self._at = 0
        return not self._ended


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
