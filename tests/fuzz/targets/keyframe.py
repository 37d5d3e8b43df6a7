"""Any payload in any codec is classified as the start of a keyframe or not."""

from svc._rtp.keyframes import is_keyframe

IN_PYTHON = False


def run(payload: bytes) -> None:
    for codec in ("VP8", "VP9", "H264", "AV1", "opus"):
        assert is_keyframe(codec, payload) in (True, False)
