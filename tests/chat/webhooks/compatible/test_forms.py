"""Forms are parsed as browsers and tools encode them. Even the worst forms are parsed quickly."""

from urllib.parse import unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.errors import ChatError
from svc.chat.webhooks.compatible.payload_reader import MAX_PARTS, _parse_urlencoded, discord_form, payload_in
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from tests.kit.time_complexity import grows_with_its_size, processor_time

MULTIPART = "multipart/form-data; boundary=x"


def part(head: str, data: str) -> str:
    return f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{data}\r\n"


@pytest.mark.parametrize(
    ("body", "value", "files"),
    [
        (part('name="content"', "hi"), {"content": "hi"}, []),
        (part("name=content", "a\r\n\r\n-x"), {"content": "a\r\n\r\n-x"}, []),
        (part('name="payload_json"', '{"content": "é"}'), {"content": "é"}, []),
        (
            part('name="f"; filename="a \\"b\\".txt"', "x") + part('name="content"', ""),
            {"content": ""},
            ['a "b".txt'],
        ),
        (part("name=f; filename*=utf-8''%C3%A9.txt", "x"), {}, ["é.txt"]),
        (part("name=f; filename*=idna''%ff", "x"), {}, ["\ufffd"]),
        (part("name=f; filename*=a\0b''c", "x"), {}, ["c"]),
        (part("name=f; filename*=a; filename*0=b; filename*1=c", "x"), {}, ["a"]),
        (part("name*=content; name*0=b", "hi"), {"content": "hi"}, []),
        ("a preamble\r\n" + part('name="content"', "hi"), {"content": "hi"}, []),
        (
            "--x\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; name=content\r\n\r\nhi\r\n",
            {"content": "hi"},
            [],
        ),
        ("--x\r\n\r\nnameless\r\n", None, []),
    ],
)
def test_multipart_forms_are_parsed(body: str, value: object, files: list[str]) -> None:
    sent = (body + "--x--\r\n").encode()
    if value is None:
        with pytest.raises(ChatError):
            discord_form(MULTIPART, sent)
    else:
        form = discord_form(MULTIPART, sent)
        assert (form.value(), [file.name for file in form.files]) == (value, files)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=", b"----"),
        ("multipart/form-data; boundary*" + "1" * 5_000 + "=x", b"--x--"),
        ('multipart/form-data; boundary="\udcff"', b"--x--"),
        (MULTIPART, b""),
        (MULTIPART, b"--x--"),
        (MULTIPART, part("name=content", "cut off").encode()),
        (MULTIPART, (part("name=content", "x") * (MAX_PARTS + 1) + "--x--").encode()),
        # A form is rejected if the headers of its parts are too long in total. Headers of this length once
        # blocked the event loop for 60 ms.
        (MULTIPART, (part("name*=" + "%" * 3_900, "x") * 5 + "--x--").encode()),
        (MULTIPART, (part("name=" + "c" * 5_000, "x") + "--x--").encode()),
        (MULTIPART, b"--x\r\nContent-Disposition: form-data; name=content\r\n\r\n\xff\r\n--x--"),
    ],
)
def test_an_invalid_form_is_rejected(content_type: str, body: bytes) -> None:
    with pytest.raises(ChatError) as refused:
        discord_form(content_type, body)
    assert refused.value.code == "invalid_json"


@pytest.mark.parametrize(
    "piece",
    [
        b"--x\r\n",
        b"--x\r\n\r\na\r\n",
        b"A: b\r\n",
        b"Content-Disposition: form-data; name=a\r\n",
        b"a=b; ",
        b'\\"',
        b"\n",
    ],
)
@pytest.mark.parametrize("head", [b"", b"--x\r\nContent-Disposition: form-data; "])
def test_the_worst_form_bodies_are_parsed_in_linear_time(piece: bytes, head: bytes) -> None:
    # Forms must be cheap, because the server parses them before it checks the webhook's token.
    def read(size: int) -> None:
        with pytest.raises(ChatError):
            discord_form(MULTIPART, head + piece * (size // len(piece)) + (b"\r\n--x--" if head else b""))

    assert grows_with_its_size(read, MAX_BODY_BYTES)


def test_the_worst_form_headers_are_parsed_in_linear_time() -> None:
    # An unclosed quotation mark once blocked the event loop for 1.5 s.
    def read(length: int) -> None:
        body = "".join(part('name="' + ";" * length, "x") for _ in range(3)) + "--x--"
        discord_form(MULTIPART, body.encode())
        with pytest.raises(ChatError):
            discord_form('multipart/form-data; boundary="' + ";" * (2 * length), b"--x--")

    assert grows_with_its_size(read, 4_000)


@given(
    st.lists(st.sampled_from(["%22", "%7b", "%C3%A9", "%2B", "%26", "%", "%zz", "+", "x", "é", "=", "%25"]))
)
def test_form_fields_are_decoded_as_browsers_encode_them(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert _parse_urlencoded(b"a=" + text.encode()).get("a", "") == unquote_plus(text)


def test_percent_signs_are_decoded_much_faster_than_by_the_standard_library() -> None:
    # Decoding blocks the event loop, and a form full of percent signs once blocked it for 58 ms.
    body = b"payload=" + b"%" * (MAX_BODY_BYTES - 100)

    standard = processor_time(lambda _: unquote_plus(body.decode()), 0)
    # Compare the shortest times, because other programs can only make the measured times longer.
    assert 5 * min(processor_time(lambda _: _parse_urlencoded(body), 0) for _ in range(10)) < standard


def test_json_is_accepted_in_a_form_field() -> None:
    assert payload_in(b"other=1&payload=%7B%22a%22%3A1%7D", "payload") == b'{"a":1}'
    assert payload_in(b'\xef\xbb\xbf {"a": 1}', "payload") == b' {"a": 1}'
    with pytest.raises(ChatError):
        payload_in(b"&".join([b"a=b"] * 1_000), "payload")
