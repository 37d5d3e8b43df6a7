"""Parses numeric command-line options strictly."""

from argparse import ArgumentTypeError


def port(text: str) -> int:
    """Parse a port number. 0 lets the kernel choose."""
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a port")


def workers(text: str) -> int:
    """Parse the number of workers, up to the RTP core's maximum."""
    if text.isascii() and text.isdigit() and 0 < int(text) <= 16:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number from 1 to 16")


def count(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 2**31:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
