"""Implements message franking, which proves the content of a reported private message.

The sender commits to the reportable content with a key that only the encrypted message contains. The server
receives the commitment, computes a tag from it, the sender, the conversation and the time, and discards the
commitment. The tag alone reveals nothing, even to somebody with the server's key. A report contains the key
and the content. From these, the server recomputes the commitment and the tag. It files the report only if the
tags match, and learns nothing else about the conversation. This module performs no I/O. See docs/private.md,
"Reports with proof"; RFC 2104, RFC 8785.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

# HMAC-SHA-256 with fixed-length keys. Finding another key and content with the same commitment is infeasible.
KEY_BYTES = COMMITMENT_BYTES = TAG_BYTES = 32
# Decodes a message's text and the names of at most ten files.
_PARTS = msgspec.json.Decoder(Annotated[list[str], msgspec.Meta(min_length=1, max_length=11)])


@dataclass(frozen=True, slots=True)
class Sending:
    """The facts that the server knows about a message when it accepts the message."""

    conversation_id: str
    member_id: str
    sent_at_ms: int


@dataclass(frozen=True, slots=True)
class Proof:
    """A recipient's proof: the content as JSON, the key, and the tag."""

    content: str
    key: bytes
    tag: bytes


def bound(commitment: bytes) -> bytes:
    """Return a message's authenticated data, a hash of the commitment. Recipients can read it."""
    return hashlib.sha256(commitment).digest()


def tag(server_key: bytes, commitment: bytes, sending: Sending) -> bytes:
    fields = [sending.conversation_id, sending.member_id, sending.sent_at_ms]
    return hmac.digest(server_key, commitment + json.dumps(fields).encode(), "sha256")


def is_proved(server_key: bytes, proof: Proof, sending: Sending) -> bool:
    """Return whether the proof shows that this member sent this content in this conversation at this time."""
    commitment = hmac.digest(proof.key, proof.content.encode(), "sha256")
    return hmac.compare_digest(proof.tag, tag(server_key, commitment, sending))


def parts(content: str) -> tuple[str, Sequence[str]]:
    """Return the text and the file names in a message's content. Raises ValueError."""
    try:
        text, *files = _PARTS.decode(content)
    except msgspec.MsgspecError as fault:
        raise ValueError(str(fault)) from None
    return text, files
