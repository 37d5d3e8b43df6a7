"""SrtpContext: one direction of one DTLS session's SRTP and SRTCP."""

PROFILES: dict[str, int]
WINDOW: int
GCM_TAG: int
OPENSSL: bool
ENCRYPTION: dict[str, str]  # what seals outgoing AES-GCM media, and whether AES is "hardware"

class SrtpKeys:
    def __init__(self, profile: str, local: bytes, remote: bytes, *, openssl: bool = True) -> None: ...
    def seal(self, header: bytes, prefix: bytes, payload: bytes, ssrc: int, index: int) -> bytes: ...
    def unprotect(self, packet: bytes) -> bytes | None: ...

def aes_by(processor: str) -> str: ...
