"""STUN in the core: authenticates and answers binding requests."""

def answer_request(
    request: bytes, password: bytes, source: tuple[bytes, int]
) -> tuple[bytes, bytes] | None: ...
