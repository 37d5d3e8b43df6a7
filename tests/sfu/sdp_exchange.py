"""The offers of one call, step by step, and the recorded answers of real peers.

`record_answers` sends these offers to real peers. The answers are in `tests/data/sdp`, named after the peer
and the step.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

from svc.sfu.offer import IceParameters, Transceiver, build_offer

ANSWERS: Final = Path(__file__).parent.parent / "data" / "sdp"

FINGERPRINT: Final = ":".join(f"{byte:02X}" for byte in range(32))
ICE: Final = IceParameters("offererU", "offererPasswordOfTwentyTwo")
CANDIDATE: Final = "candidate:1 1 udp 2130706431 127.0.0.1 3478 typ host"

OWN: Final = (
    Transceiver("0", "audio", "recvonly"),
    Transceiver("1", "video", "recvonly"),
    Transceiver("2", "video", "recvonly"),
    Transceiver("3", "audio", "recvonly"),
)
VOICE: Final = Transceiver("4", "audio", "sendonly", "ann", "ann-mic", "ann", 4001)
CAMERA: Final = Transceiver("5", "video", "sendonly", "ann", "ann-camera", "ann", 5001, 5002, first_codec=112)

CALL: Final = {
    "alone": OWN,
    "publishing": OWN,
    "receiving": (*OWN, VOICE, CAMERA),
    "left": (*OWN, replace(VOICE, direction="inactive"), replace(CAMERA, direction="inactive")),
    "reused": (
        *OWN,
        replace(VOICE, stream_id="ben", track_id="ben-mic", cname="ben", ssrc=4003),
        replace(
            CAMERA,
            stream_id="ben",
            track_id="ben-camera",
            cname="ben",
            ssrc=5003,
            rtx_ssrc=5004,
            first_codec=114,
        ),
    ),
}


def offer(step: str) -> str:
    """Return the offer in the given step of the call."""
    return build_offer(
        session_id=1,
        version=1 + list(CALL).index(step),
        ice=ICE,
        fingerprint=FINGERPRINT,
        candidates=[CANDIDATE],
        transceivers=CALL[step],
    )


def answer(peer: str, step: str) -> str:
    """Return the peer's recorded answer in the given step."""
    return (ANSWERS / f"{peer}-{step}.sdp").read_bytes().decode()
