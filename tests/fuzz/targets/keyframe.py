"""Keyframe detection returns a result for every input and codec."""

from svc._rtp.keyframes import is_keyframe

IN_PYTHON = False


def run(payload: bytes) -> None:
    for codec in ("VP8", "VP9", "H264", "AV1", "opus"):
        assert is_keyframe(codec, payload) in (True, False)
