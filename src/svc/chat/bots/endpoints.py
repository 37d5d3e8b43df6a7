"""Handles requests that create bots, renew their tokens and delete them."""

import time
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.bots.responses import Bot
from svc.chat.bots.rules import MAX_BOTS, Bots
from svc.chat.control.commands import Commands, command, find_member
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.members import responses
from svc.chat.schemas import Id, Response

_MANAGER = on_server(P.MANAGE_BOTS)
_OF_RANK = ("forbidden", "rank_too_low", "unknown_member")


# Higher than the actual limit, so that an overlong nickname gets the error for nicknames.
Nickname = Annotated[str, Meta(max_length=1024)]


class NewBot(Request):
    nickname: Nickname


class AllBots(Response):
    bots: Annotated[Sequence[Bot], Meta(max_length=MAX_BOTS)]


class CreatedBot(Response):
    member: responses.Member
    token: str


class NewToken(Response):
    token: str


class RenewedBot(NewToken):
    member_id: Id


class BotEndpoints(Endpoints):
    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    @endpoint(_MANAGER, "List the server's bots", http="GET /api/bots")
    async def list(self) -> AllBots:
        return AllBots(self._bots.all())

    @endpoint(
        _MANAGER,
        "Create a bot. A server has at most 50. Only this response contains the token",
        http="POST /api/bots",
        refusals=("forbidden", "invalid_nickname", "profanity_refused", "server_full", "too_many"),
        status=201,
    )
    async def create(self, session: Session, body: NewBot) -> CreatedBot:
        member, token = await self._bots.create(session.member_id, body.nickname, time.time())
        return CreatedBot(responses.member(member), token)

    @endpoint(
        _MANAGER,
        "Replace the token of a bot that has a lower rank and no permission that you lack. The "
        "old token stops working, and its live sockets and calls end",
        http="POST /api/bots/{member_id}/token",
        refusals=_OF_RANK,
        status=201,
    )
    async def renew(self, session: Session, member_id: Id) -> NewToken:
        return NewToken(await self._bots.renew(session.member_id, member_id, time.time()))

    @endpoint(
        _MANAGER,
        "Delete a bot that has a lower rank and no permission that you lack. Its messages stay",
        http="DELETE /api/bots/{member_id}",
        refusals=_OF_RANK,
    )
    async def delete(self, session: Session, member_id: Id) -> None:
        await self._bots.delete(session.member_id, member_id, time.time())


class BotCommands(Commands):
    def __init__(self, bots: Bots, directory: Directory) -> None:
        self._bots = bots
        self._directory = directory

    @command("bot_list")
    async def list(self) -> AllBots:
        return AllBots(self._bots.all())

    @command("bot_create")
    async def create(self, nickname: Nickname) -> CreatedBot:
        member, token = await self._bots.create(None, nickname, time.time())
        return CreatedBot(responses.member(member), token)

    @command("bot_token")
    async def renew(self, bot: Id) -> RenewedBot:
        member_id = find_member(self._directory, bot)
        return RenewedBot(await self._bots.renew(None, member_id, time.time()), member_id)

    @command("bot_delete")
    async def delete(self, bot: Id) -> responses.MemberLeft:
        member_id = find_member(self._directory, bot)
        await self._bots.delete(None, member_id, time.time())
        return responses.MemberLeft(member_id)


DESCRIPTION = describe_feature(BotEndpoints)
