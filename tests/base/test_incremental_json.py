"""JSON of any length is parsed in the same way no matter how it is split, and each piece is read once."""

import io
import json

import pytest

from svc.base.incremental_json import JsonStream


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64 * 1024])
def test_a_document_is_parsed_identically_no_matter_how_it_is_split(size: int) -> None:
    value = {"a": [1, 23, {"b": "\u20ac\U0001f600"}], "c": -1.5e3, "d": None, "e": [], "f": "x"}
    source = io.BytesIO(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False, indent=1).encode())
    document = JsonStream(lambda maximum: source.read(min(maximum, size)), 1000)
    values: dict[str, object] = {}
    for name in document.names():
        values[name] = (
            [document.value() for _ in document.items()] if document.peek() == "[" else document.value()
        )
    document.end()
    assert values == value


def test_parsing_does_not_block_the_loop() -> None:
    """Check that each value is read only once, so that the work grows linearly with the length of the
    value."""
    reads: list[int] = []
    source = io.BytesIO(b'"' + b"x" * 4_000_000 + b'"')

    def read(maximum: int) -> bytes:
        reads.append(maximum)
        return source.read(maximum)

    assert len(str(JsonStream(read, 5_000_000).value())) == 4_000_000
    assert len(reads) < 12
