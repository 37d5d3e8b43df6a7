"""How much may be kept: by one holder, and by all together. No SQL.

A holder is a member, or all webhooks that one member has made.
"""

from dataclasses import dataclass

from svc.base.shares import fits
from svc.chat.errors import ChatError

_GB = 1024 * 1024 * 1024
# A holder's is some thousands of pictures; the server's a disk of its own.
MAX_BYTES_OF_ONE = 4 * _GB
MAX_BYTES = 256 * _GB


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes in the store."""

    own: int
    everyone: int


def require_room(kept: Kept, more: int) -> None:
    """Raises ChatError where a holder may not keep so much more, and says whose limit that is."""
    if kept.own + more > MAX_BYTES_OF_ONE:
        raise ChatError("quota_exceeded")
    if not fits(kept.own, kept.everyone, MAX_BYTES, more):
        raise server_full(kept.own)


def server_full(own: int) -> ChatError:
    """The refusal where the server's room is short: who has much is refused first, and told so."""
    if own:
        return ChatError(
            "storage_full",
            "The server is short of room, so members who have the most are refused first. "
            "Delete some of your files, or try again later",
        )
    return ChatError("storage_full", "The server has no room for this file. Ask its operator for more")
