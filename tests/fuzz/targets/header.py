"""Input is either rejected or parsed as an RTP header that can be rewritten for any receiver."""

from svc._rtp.header import parse_header, rewrite_header
from svc._rtp.keyframes import is_keyframe

IN_PYTHON = False
SAME_IDS = {ext_id: ext_id for ext_id in range(1, 256)}


def run(packet: bytes) -> None:
    header = parse_header(packet)
    if header is None:
        return
    assert header["payload_offset"] + header["payload_length"] + header["padding"] == len(packet)
    payload = packet[header["payload_offset"] :][: header["payload_length"]]
    for codec in ("VP8", "VP9", "H264", "AV1"):
        is_keyframe(codec, payload)
    for mixed in (False, True):
        out = rewrite_header(
            packet, ssrc=1, sequence=2, payload_type=3, ext_ids=SAME_IDS, mixed=mixed, mid=(1, b"mid")
        )
        if out is not None:
            _has_one_more_extension(packet, out, mixed)


def _has_one_more_extension(packet: bytes, out: bytes, mixed: bool) -> None:
    before, after = parse_header(packet), parse_header(out)
    assert before is not None and after is not None
    assert out[after["payload_offset"] :] == packet[before["payload_offset"] :]
    expected = [(1, b"mid"), *before["extensions"]]
    if not mixed:
        expected = [(ext_id, value) for ext_id, value in expected if ext_id < 15 and 1 <= len(value) <= 16]
    assert after["extensions"] == expected[:20]
