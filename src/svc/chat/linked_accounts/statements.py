"""Verifies the two statements that link accounts on two servers. Performs no I/O.

Each statement is a JWT, signed with the key of a device on one server. It identifies both accounts, both
servers and the key of the other statement, so neither statement is valid for another account, key or server.
This server can verify its own member's key. It cannot verify the owner of the other key, so members of both
servers ask the other server. See docs/servers.md.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from svc.chat.access.origins import normalise
from svc.chat.authentication import jwt_verification as proofs
from svc.chat.schemas import Id, TimeMs

USE = "same_person"
# Enough for two origins with the longest hostnames (RFC 1035), two ids, a key and a signature.
MAX_STATEMENT_CHARACTERS = 2048
# The maximum length of a hostname, plus a scheme and a port.
MAX_ORIGIN_CHARACTERS = 253 + len("https://:65535")
# A SHA-256 digest in base64url without padding.
DIGEST_CHARACTERS = 43

Statement = Annotated[str, Meta(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)]
Origin = Annotated[str, Meta(min_length=1, max_length=MAX_ORIGIN_CHARACTERS)]
Digest = Annotated[str, Meta(pattern=f"^[A-Za-z0-9_-]{{{DIGEST_CHARACTERS}}}$")]


class Claims(Struct):
    """The claims of a statement: `sub` at `iss` is the same person as `peer` at `aud`. `peer_key` is the
    thumbprint of the key that signs the peer's statement.
    """

    use: str
    iss: Origin
    sub: Id
    aud: Origin
    peer: Id
    peer_key: Digest
    made_at_ms: TimeMs


@dataclass(frozen=True, slots=True)
class LinkProof:
    """Two verified statements that refer to each other. `origin` is the other server. `thumbprint` identifies
    the key that signed the member's own statement.
    """

    origin: str
    own_origin: str
    member_id: str
    thumbprint: str


def verify_pair(own: str, other: str, now: float) -> LinkProof:
    """Verify both statements, and check that they refer to each other. Raises InvalidProof."""
    thumbprint, claims = _verify(own, now)
    other_thumbprint, other_claims = _verify(other, now)
    if claims.iss == other_claims.iss:
        raise proofs.InvalidProof("both statements are from the same server")
    claimed = (claims.aud, claims.peer, claims.peer_key)
    if claimed != (other_claims.iss, other_claims.sub, other_thumbprint):
        raise proofs.InvalidProof("your statement names another account, server or key")
    claimed = (other_claims.aud, other_claims.peer, other_claims.peer_key)
    if claimed != (claims.iss, claims.sub, thumbprint):
        raise proofs.InvalidProof("the other statement names another account, server or key")
    return LinkProof(other_claims.iss, claims.iss, claims.sub, thumbprint)


def _verify(text: str, now: float) -> tuple[str, Claims]:
    token = proofs.read(text)
    try:
        claims = msgspec.convert(dict(token.claims), Claims)
    except msgspec.ValidationError as fault:
        raise proofs.InvalidProof(f"a claim is missing or invalid: {fault}") from None
    if claims.use != USE:
        raise proofs.InvalidProof("the statement has another purpose")
    if not (_is_origin(claims.iss) and _is_origin(claims.aud)):
        raise proofs.InvalidProof("iss and aud must be http or https origins")
    thumbprint, _ = proofs.statement(token, claims.aud, now)
    return thumbprint, claims


def _is_origin(text: str) -> bool:
    """Return whether the text is an HTTP(S) origin in the normal form that browsers use."""
    return text.startswith(("https://", "http://")) and text.isascii() and normalise(text) == text
