"""Request bodies that are not valid JSON are rejected."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.errors import ChatError
from svc.chat.webhooks import json_reader
from svc.chat.webhooks.json_reader import TOO_DEEP, decode, is_json, json_in
from svc.chat.webhooks.payload import InvalidPayload, parse


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"{", b"{'a': 1}", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b"{} {}"),
        *(b'{"a": 1,}', b"text", b"\xff", b'"\xff"', '{"text": "hi"}'.encode("utf-16"), b'{"a": 01}'),
        *(b"[" * 100_000, b'{"a":' * 50_000, b"[" * 50_000 + b"}" * 50_000),
        # Deep nesting with strings that could make a scanner restart repeatedly.
        b"[" * 2_000 + b'\\"' * 100_000,
        b"[" * 2_000 + b'"' + b'\\"' * 100_000 + b"\\",
    ],
)
def test_invalid_json_is_rejected(body: bytes) -> None:
    with pytest.raises(ChatError) as refused:
        decode(body)
    assert refused.value.code == "invalid_json"


@pytest.mark.parametrize(
    "body",
    [
        *(b"[" + b"[]," * 80_000, b'["\\ud800",' + b"[]," * 80_000, b"[" + b"[]," * 80_000 + b"NaN]"),
        *(b'["\\\\ud8zz", "\\ud8zz"]', b"[" * 2_000 + b"[]," * 80_000, b'["\xff"]', b'["\t"]'),
    ],
)
def test_no_values_are_built_from_invalid_json(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # Building values takes fifty times as long as scanning, and invalid bodies do not count towards the
    # limit.
    monkeypatch.setattr(json_reader, "orjson", None)
    with pytest.raises(ChatError):
        decode(body)


@given(st.lists(st.sampled_from([*'[]{}":,\\ \t\x01-+.019eEuUdD8', "\\ud800", "true", "null", "NaN", "é"])))
def test_the_scanner_and_the_parser_accept_the_same_bodies(pieces: list[str]) -> None:
    text, read, scanned = "".join(pieces), False, False
    with suppress(ValueError):
        json.loads(text, parse_constant=int)
        read = True
    with suppress(ChatError):
        json_in(text.encode())
        scanned = True
    assert scanned == read
    assert is_json(text.encode()) or not read


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        # A lone surrogate becomes NUL, because both are invalid.
        (b'["\\ud800", "\\uDC00", "\\\\ud800", "\\ud83d\\ude00"]', ["\0", "\0", "\\ud800", "\U0001f600"]),
        (b'"\\u0000"', "\0"),
        (b"[" * 500 + b"]" * 500, None),
        (b"9" * 5_000, float("inf")),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_valid_json_is_parsed(body: bytes, value: object) -> None:
    read = decode(body)
    assert read is not TOO_DEEP
    assert value is None or read == value


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_nesting_that_is_too_deep_is_reported_as_one_problem(depth: int) -> None:
    parsed = parse(decode(b'{"text": "a", "more": ' + b"[" * depth + b"]" * depth + b"}"))
    assert isinstance(parsed, InvalidPayload)
    assert [(problem.path, problem.code) for problem in parsed.problems] == [("", "invalid")]


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_parsed_or_rejected(body: bytes) -> None:
    try:
        parse(decode(body))
    except ChatError as refusal:
        assert refusal.code == "invalid_json"
