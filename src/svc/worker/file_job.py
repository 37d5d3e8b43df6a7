"""Examines files that are stored unchanged, using the sandbox.

Nothing is rewritten or trusted: a file that is not clearly audio becomes a plain download.
`svc.worker.encoders` handles images and videos, which do not reach this module.
"""

from dataclasses import dataclass
from pathlib import Path

from svc.base.file_types import PLAIN_TYPE, sound_of
from svc.base.sandbox import Limits, Refused, Sandbox, as_file

# Enough memory for demultiplexing, and for one decoder that determines the sample rate.
_MEMORY_BYTES = 512 * 1024 * 1024
_RESULT_BYTES = 64 * 1024
# If determining a file's duration takes longer than this, the file is played without a known duration.
PROBE_DEADLINE_S = 10.0
# The maximum duration to display. No recording is that long, but an incorrect header can claim more.
_MAX_DURATION_MS = 7 * 24 * 3600 * 1000
_PLAIN_EXT = "bin"


@dataclass(frozen=True, slots=True)
class KeptFile:
    """The properties of a file that is stored as uploaded, without re-encoding."""

    content_type: str
    ext: str
    duration_ms: int | None = None


PLAIN = KeptFile(PLAIN_TYPE, _PLAIN_EXT)


async def file_properties(source: Path, sandbox: Sandbox, deadline_s: float = PROBE_DEADLINE_S) -> KeptFile:
    """Return a file's properties. Raises SandboxFailed or OSError."""
    async with as_file(source) as file:
        sound = sound_of(file)
        if sound is None:
            return PLAIN
        limits = Limits(
            memory_bytes=_MEMORY_BYTES,
            deadline_s=min(deadline_s, PROBE_DEADLINE_S),
            cpu_s=int(PROBE_DEADLINE_S) + 2,
            result_bytes=_RESULT_BYTES,
        )
        try:
            result = await sandbox.call("listen", {"container": sound.demuxer}, [file], limits)
        except Refused:
            return PLAIN
    if sound.codecs and result.facts.get("codec") not in sound.codecs:
        return PLAIN
    duration_ms = result.facts.get("duration_ms")
    if not isinstance(duration_ms, int) or not 0 < duration_ms <= _MAX_DURATION_MS:
        duration_ms = None
    return KeptFile(sound.content_type, sound.ext, duration_ms)
