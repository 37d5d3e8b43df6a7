"""A payload is either rejected or parsed as RED with blocks that add up to its length."""

from svc._rtp.redundancy import parse_red

IN_PYTHON = False


def run(payload: bytes) -> None:
    blocks = parse_red(payload)
    if blocks is None:
        return
    *redundant, (payload_type, offset, primary) = blocks
    assert offset == 0
    heads = b"".join(
        bytes([0x80 | kind]) + (before << 10 | len(data)).to_bytes(3, "big")
        for kind, before, data in redundant
    )
    assert payload == heads + bytes([payload_type]) + b"".join(data for *_, data in redundant) + primary
