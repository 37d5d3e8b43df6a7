"""The picture of a webhook, uploaded by who manages it: decoded in the sandbox, made small, and stored.

Decodes nothing itself. What a message brings along for itself is `pictures`'. Spec: chat document
sections 2.1 and 8.1.
"""

from svc.base.objects import StoreFailed
from svc.base.pictures import PictureRules, Refused, SandboxFailed, rewritten
from svc.base.sandbox import Sandbox
from svc.chat.errors import ChatError
from svc.chat.media.rules import Facts, Media

AVATAR_SIDE = 256
_DEADLINE_S = 12.0
_RULES = PictureRules(max_side=AVATAR_SIDE, animated=False)


class Avatars:
    def __init__(self, media: Media, sandbox: Sandbox) -> None:
        self._media = media
        self._sandbox = sandbox

    async def keep(self, data: bytes) -> str:
        """The key under which it is stored. Raises ChatError."""
        if not self._media.enabled:
            raise ChatError("uploads_disabled")
        try:
            picture = await rewritten(data, _RULES, deadline_s=_DEADLINE_S, sandbox=self._sandbox)
            facts = Facts(
                content_type=picture.content_type,
                width=picture.width,
                height=picture.height,
                placeholder=picture.placeholder,
                colour=picture.colour,
            )
            return await self._media.keep(picture.data, picture.ext, facts)
        except Refused as fault:
            code = "unsupported_type" if fault.code == "unsupported_type" else "invalid_image"
            raise ChatError(code, str(fault)) from None
        except (SandboxFailed, StoreFailed) as fault:
            raise ChatError("storage_unavailable", "The picture cannot be stored right now") from fault
