"""STUN in the core: authenticate and answer binding requests."""

def answer_request(
    request: bytes, password: bytes, source: tuple[bytes, int]
) -> tuple[bytes, bytes] | None: ...
