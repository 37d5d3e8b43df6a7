"""Writes a Dependency Descriptor for a receiver that gets fewer decode targets."""

from svc._rtp.descriptor import Structure

def rewrite_descriptor(
    data: bytes,
    known: Structure | None = None,
    *,
    active_decode_targets: int | None = None,
    capacity: int = 255,
) -> bytes | str: ...
