"""What can be asked of bots: made, given another token and deleted."""

import time
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.access.catalogue import on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Asker
from svc.chat.bots.rules import MAX_BOTS, Bots
from svc.chat.described import BOOLEAN, ID, TIME_MS, array, nullable, obj, string
from svc.chat.fields import Id
from svc.chat.members.requests import MEMBER
from svc.chat.requests import Asked, Requests, described_by, request

_MANAGER = on_server(P.MANAGE_BOTS)
_OF_RANK = ("forbidden", "rank_too_low", "unknown_member")
_BOT = obj(
    {
        "member": MEMBER,
        "has_token": BOOLEAN,
        "token_made_by": nullable(ID),
        "token_made_at_ms": nullable(TIME_MS),
    }
)
_BOTS = obj({"bots": array(_BOT, MAX_BOTS)})


class NewBot(Asked):
    # What is too long is refused as a name, not as a request.
    nickname: Annotated[str, Meta(max_length=1024)]


@dataclass(frozen=True, slots=True)
class NewToken:
    token: str


class BotRequests(Requests):
    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    @request(_MANAGER, "The server's bots", http="GET /api/bots", answers=_BOTS)
    async def list(self) -> object:
        return {"bots": self._bots.described()}

    @request(
        _MANAGER,
        "Make a bot; its token is shown this once",
        http="POST /api/bots",
        refusals=("forbidden", "invalid_nickname", "profanity_refused", "server_full", "too_many"),
        status=201,
        answers=obj({"member": MEMBER, "token": string()}),
    )
    async def create(self, asking: Asker, asked: NewBot) -> object:
        member, token = await self._bots.create(asking.member_id, asked.nickname, time.time())
        return {"member": member.described(), "token": token}

    @request(
        _MANAGER,
        "Another token for a bot of lower rank; the one before is worthless at once",
        http="POST /api/bots/{member_id}/token",
        refusals=_OF_RANK,
        status=201,
    )
    async def renew(self, asking: Asker, member_id: Id) -> NewToken:
        return NewToken(await self._bots.renew(asking.member_id, member_id, time.time()))

    @request(
        _MANAGER,
        "Delete a bot of lower rank",
        http="DELETE /api/bots/{member_id}",
        refusals=_OF_RANK,
    )
    async def delete(self, asking: Asker, member_id: Id) -> None:
        await self._bots.delete(asking.member_id, member_id, time.time())


DESCRIBED = described_by(BotRequests)
