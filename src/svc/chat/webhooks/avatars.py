"""The picture of a webhook, uploaded by who manages it: decoded in the sandbox, made small, and stored.

Decodes nothing itself. What a message brings along for itself is `pictures`'. docs/http.md, "Webhooks" and
docs/webhooks.md.
"""

import asyncio

from svc.base.objects import StoreFailed
from svc.base.pictures import PictureRules, Refused, SandboxFailed, rewritten
from svc.base.sandbox import Sandbox
from svc.base.shares import Turns
from svc.chat.errors import ChatError
from svc.chat.media.facts import facts_of
from svc.chat.media.rules import Media

AVATAR_SIDE = 256
_DEADLINE_S = 12.0
# For a place among those that are decoded.
_WAIT_S = 12.0
_RULES = PictureRules(max_side=AVATAR_SIDE, animated=False)


class Avatars:
    def __init__(self, media: Media, sandbox: Sandbox, decoding: Turns) -> None:
        self._media = media
        self._sandbox = sandbox
        self._decoding = decoding

    async def keep(self, data: bytes, holder: str) -> str:
        """The key under which it is stored, as a part of the holder's share. Raises ChatError."""
        if not self._media.enabled:
            raise ChatError("uploads_disabled")
        try:
            async with asyncio.timeout(_WAIT_S + _DEADLINE_S), self._decoding.turn(holder):
                picture = await rewritten(data, _RULES, deadline_s=_DEADLINE_S, sandbox=self._sandbox)
            return await self._media.keep(picture.data, picture.ext, facts_of(picture), holder)
        except Refused as fault:
            code = "unsupported_type" if fault.code == "unsupported_type" else "invalid_image"
            raise ChatError(code, str(fault)) from None
        except TimeoutError:
            raise ChatError("too_slow", "The server works on too many pictures. Try again later") from None
        except (SandboxFailed, StoreFailed) as fault:
            raise ChatError("storage_unavailable", "The picture cannot be stored right now") from fault
