"""Proof of what was said in a private conversation, for reports: message franking.

The sender makes a commitment to what a report may reveal, with a key that only the sealed message holds. The
server is shown the commitment, makes a tag of it together with the sender, the conversation and the time, and
forgets the commitment: the tag alone says nothing, not even to whoever has the server's key. A report brings
the key and what was said, which give the commitment again, and so the tag: only then is it filed. Of
everything else that was said in the conversation the server learns nothing. Sans-I/O. docs/private.md,
"Reports with proof"; RFC 2104, RFC 8785.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

# HMAC-SHA-256 with keys of one length: nobody finds two keys and texts that give the same commitment.
KEY_BYTES = COMMITMENT_BYTES = TAG_BYTES = 32
# A text, and at most ten files.
_PARTS = msgspec.json.Decoder(Annotated[list[str], msgspec.Meta(min_length=1, max_length=11)])


@dataclass(frozen=True, slots=True)
class Sending:
    """What the server knows of a message while it takes it."""

    conversation_id: str
    member_id: str
    sent_at_ms: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What a recipient brings: the text and the names of the files as they were written, and the key."""

    said: str
    key: bytes
    tag: bytes


def bound(commitment: bytes) -> bytes:
    """What stands in the message's authenticated data, where its recipients see it."""
    return hashlib.sha256(commitment).digest()


def tag(server_key: bytes, commitment: bytes, sending: Sending) -> bytes:
    fields = [sending.conversation_id, sending.member_id, sending.sent_at_ms]
    return hmac.digest(server_key, commitment + json.dumps(fields).encode(), "sha256")


def is_proved(server_key: bytes, proof: Proof, sending: Sending) -> bool:
    """Did this member send just that, there and then?"""
    commitment = hmac.digest(proof.key, proof.said.encode(), "sha256")
    return hmac.compare_digest(proof.tag, tag(server_key, commitment, sending))


def parts(said: str) -> tuple[str, Sequence[str]]:
    """The text and the names of the files. Raises ValueError."""
    try:
        text, *files = _PARTS.decode(said)
    except msgspec.MsgspecError as fault:
        raise ValueError(str(fault)) from None
    return text, files
