"""How much of what is taken: of one file, of one member, of all together. Constants with their reasons."""

from collections.abc import Mapping
from dataclasses import dataclass

from svc.chat.uploads.upload import ATTACHMENT, AVATAR, EMOJI, ICON

_MB = 1024 * 1024
# A few minutes from a telephone.
MAX_ATTACHMENT_BYTES = 256 * _MB
MAX_PICTURE_BYTES = 32 * _MB
MAX_AVATAR_BYTES = 8 * _MB
MAX_EMOJI_BYTES = 2 * _MB

# Begun, or waiting for the worker: of one member, and of all, whose files are all on our disk.
MAX_UNFINISHED_OF_A_MEMBER = 20
MAX_UNFINISHED = 2_000
MAX_INCOMING_BYTES = 16 * 1024 * _MB
# What stays on the disk for the database and everything else.
MIN_FREE_BYTES = 512 * _MB
# Of what is kept. A member's is some thousands of pictures; the server's a disk of its own.
MAX_BYTES_OF_A_MEMBER = 4 * 1024 * _MB
MAX_BYTES = 256 * 1024 * _MB

# An upload whose page has gone can be taken up again for a day.
UNFINISHED_KEPT_S = 24 * 3600.0
# For so long its member can ask why.
REFUSED_KEPT_S = 3600.0
# For so long the operator can look into what the worker has given up, and have it tried again.
DEAD_KEPT_S = 7 * 24 * 3600.0
MAX_ATTACHMENTS = 10

SIDES = {AVATAR: 256, ICON: 512, EMOJI: 128}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many bytes of each purpose are taken."""

    icon_bytes: int

    def of(self, purpose: str) -> int:
        return {
            ATTACHMENT: MAX_ATTACHMENT_BYTES,
            AVATAR: MAX_AVATAR_BYTES,
            ICON: self.icon_bytes,
            EMOJI: MAX_EMOJI_BYTES,
        }[purpose]

    def told(self, kind: str) -> Mapping[str, object]:
        """What the worker is told with a job of a kind."""
        if kind == "video":
            return {"max_bytes": MAX_ATTACHMENT_BYTES}
        if kind == "picture":
            return {"max_bytes": MAX_PICTURE_BYTES}
        return {"max_bytes": self.of(kind), "max_side": SIDES[kind]}
