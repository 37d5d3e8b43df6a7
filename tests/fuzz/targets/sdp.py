"""Text is either parsed as an answer with usable parameters or rejected with a printable SdpError."""

from dataclasses import replace

from svc.sfu.answer import read_answer
from svc.sfu.candidates import Candidate, CandidateError
from svc.sfu.sdp import SdpError, SessionDescription
from tests.sfu.sdp_exchange import CALL, CAMERA, OWN

IN_PYTHON = True
# Two media sections keep the answers short. Most mutations of a long answer would change nothing relevant.
SHORT = (OWN[0], replace(CAMERA, mid="1"))
ENCODINGS = tuple(replace(transceiver, direction="recvonly", simulcast=True) for transceiver in SHORT)
REDUNDANT = tuple(replace(transceiver, redundancy=transceiver.kind == "audio") for transceiver in SHORT)


def run(data: bytes) -> None:
    # JSON can contain lone surrogates. In this test, they replace invalid UTF-8.
    text = data.decode(errors="surrogateescape")
    try:
        description = SessionDescription.parse(text)
        assert SessionDescription.parse(str(description)) == description
        for transceivers in (SHORT, ENCODINGS, REDUNDANT, *CALL.values()):
            if len(transceivers) == len(description.media):
                for candidate in read_answer(text, transceivers).candidates:
                    _read_candidate(candidate)
    except SdpError as refusal:
        str(refusal).encode()


def _read_candidate(text: str) -> None:
    try:
        Candidate.parse(text)
    except CandidateError as refusal:
        str(refusal).encode()
