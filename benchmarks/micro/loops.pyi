"""Repeats single steps of the core without Python in between, so that only the step is timed or counted."""

from svc._rtp.engine import Engine
from svc._rtp.srtp import SrtpKeys

def calls() -> int:
    """Return the number of loops that have run. Callgrind writes a file after each loop."""

class Loop:
    def run(self, times: int) -> None: ...

class Parse(Loop):
    def __init__(self, packet: bytes) -> None: ...

class Descriptor(Loop):
    def __init__(self, structure: bytes, delta: bytes) -> None: ...

class Rewrite(Loop):
    def __init__(self, packet: bytes, kept_id: int) -> None: ...

class Protect(Loop):
    def __init__(self, keys: SrtpKeys, size: int) -> None: ...

class FanOut(Loop):
    def __init__(self, engine: Engine, packets: list[bytes], remote: tuple[str, int], local: str) -> None: ...
    @property
    def sent(self) -> int: ...

class Nack(Loop):
    @property
    def resent(self) -> int: ...
    def __init__(self, engine: Engine, transport: int) -> None: ...

class Reports(Loop):
    @property
    def ignored(self) -> int: ...
    def __init__(self, engine: Engine, transport: int) -> None: ...
