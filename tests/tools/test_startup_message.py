"""The startup message of `svc up` lists reachable URLs, explains browser warnings, and has a QR code for
phones.
"""

import pytest
import zxingcpp
from PIL import Image

from svc.tools.startup_message import (
    ASKS_ONCE,
    FIRST_IS_OWNER,
    NO_MICROPHONES,
    ONLY_HERE,
    ListenAddress,
    code_for_phones,
    greeting,
    qr_code,
)

ADDRESSES = ["127.0.0.1", "192.0.2.7", "169.254.1.1", "::1", "2001:db8::7", "fe80::1"]


@pytest.mark.parametrize(
    ("listen_address", "lines"),
    [
        (ListenAddress("127.0.0.1", 5000), ["Open http://127.0.0.1:5000/#invite=abc"]),
        (ListenAddress("::1", 5000), ["Open http://[::1]:5000/#invite=abc"]),
        (ListenAddress("192.0.2.7", 5000), ["Open http://192.0.2.7:5000/#invite=abc"]),
        (
            ListenAddress("0.0.0.0", 5000),
            [
                "Open http://127.0.0.1:5000/#invite=abc",
                "On your network: http://192.0.2.7:5000/#invite=abc",
                NO_MICROPHONES,
            ],
        ),
        (
            ListenAddress("::", 80),
            [
                "Open http://[::1]/#invite=abc",
                "On your network: http://192.0.2.7/#invite=abc",
                "On your network: http://[2001:db8::7]/#invite=abc",
                NO_MICROPHONES,
            ],
        ),
        (
            ListenAddress("0.0.0.0", 5000, True, ("chat.example", "other.example:8443"), "AB:CD"),
            [
                "Open https://127.0.0.1:5000/#invite=abc",
                "On your network: https://chat.example:5000/#invite=abc",
                "On your network: https://other.example:8443/#invite=abc",
                "On your network: https://192.0.2.7:5000/#invite=abc",
                ASKS_ONCE,
                "AB:CD",
            ],
        ),
        (ListenAddress("127.0.0.1", 443, True), ["Open https://127.0.0.1/#invite=abc", ONLY_HERE]),
    ],
)
def test_the_startup_message_lists_the_reachable_addresses(
    listen_address: ListenAddress, lines: list[str]
) -> None:
    assert greeting(listen_address, "abc", ADDRESSES) == lines


def test_on_the_first_start_the_message_explains_the_link() -> None:
    listen_address = ListenAddress("127.0.0.1", 5000)
    assert greeting(listen_address, "abc.def", []) == [
        "Open http://127.0.0.1:5000/#invite=abc.def",
        FIRST_IS_OWNER,
    ]


def read(lines: list[str]) -> str:
    """Decode the QR code in these lines, as a phone's camera does."""
    body = [line.removeprefix("\x1b[30;107m").removesuffix("\x1b[0m") for line in lines]
    picture = Image.new("L", (len(body[0]), 2 * len(body)), 255)
    for y, line in enumerate(body):
        for x, half in enumerate(line):
            for lower in (0, 1):
                if half in ("█", "▄" if lower else "▀"):
                    picture.putpixel((x, 2 * y + lower), 0)
    codes = zxingcpp.read_barcodes(picture.resize((picture.width * 4, picture.height * 4)))
    assert len(codes) == 1, "\n".join(body)
    return str(codes[0].text)


@pytest.mark.parametrize("text", ["https://192.0.2.7:5000/#invite=nwpt2mpfdkgwnest", "x", "https://ü/" * 9])
def test_a_qr_code_decodes_to_its_text(text: str) -> None:
    assert read(qr_code(text)) == text


def test_phones_are_given_a_host_name_first() -> None:
    title, *code = code_for_phones(ListenAddress("0.0.0.0", 5000, True, ("chat.example",)), "abc", ADDRESSES)
    assert title == "Or scan this code with a phone:"
    assert read(code) == "https://chat.example:5000/#invite=abc"
    _, *code = code_for_phones(ListenAddress("0.0.0.0", 5000, True), "abc", ADDRESSES)
    assert read(code) == "https://192.0.2.7:5000/#invite=abc"


@pytest.mark.parametrize(
    "listen_address", [ListenAddress("0.0.0.0", 5000), ListenAddress("127.0.0.1", 5000, True)]
)
def test_phones_are_never_given_an_unreachable_address(listen_address: ListenAddress) -> None:
    assert code_for_phones(listen_address, "abc", ADDRESSES) == []
