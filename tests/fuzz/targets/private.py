"""Input that is not exactly one complete MLS message is rejected with a FramingError."""

from svc.chat.private_conversations.framing import (
    FramingError,
    read_key_package,
    read_private_message,
    read_welcome,
)

IN_PYTHON = True


def run(data: bytes) -> None:
    for read in (read_private_message, read_welcome, read_key_package):
        try:
            read(data)
        except FramingError as refusal:
            str(refusal).encode()
            continue
        try:
            read(data + b"\0")
        except FramingError:
            continue
        raise AssertionError("what follows a message is no part of it")
