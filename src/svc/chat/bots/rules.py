"""Creates and deletes bots, and renews their tokens. Contains no HTTP code.

A bot is a program that is a member like any other: it has roles, sees channels and can be kicked. It uses a
token instead of signing in. Anyone who knows a token can act as the bot, so nobody can create a token for a
bot that has a permission they lack, or that does not rank below them. This also holds after changes: a bot
has only those of its roles' permissions that the token's creator has too. A token is revoked when its
creator's membership ends. A bot can create tokens too. Anyone who knows the bot's token may also know the
tokens that it created, so they are revoked with it.
"""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Member
from svc.chat.access.permissions import MEMBER, Permission
from svc.chat.access.tokens import BOT_PREFIX, AccessTokens
from svc.chat.bots.responses import Bot
from svc.chat.errors import ChatError
from svc.chat.live.hub import PermissionHolders
from svc.chat.live.responses import Managed
from svc.chat.members import responses
from svc.chat.members.roles import Roles
from svc.chat.members.rules import Members
from svc.chat.names import readable_nickname
from svc.chat.services import Services


@dataclass(frozen=True, slots=True)
class BotToken:
    member_id: str
    # SHA-256 of the token, which is not stored.
    digest: bytes
    created_by: str | None
    created_at_ms: int


TOKENS = Table("bot_tokens", BotToken)
# Deletes the token of the given bot, the tokens that the given bot or member created, the tokens that these
# bots created, and so on.
_DELETE_MADE_THROUGH = """
    WITH RECURSIVE made(id) AS (
        SELECT ? UNION SELECT member_id FROM bot_tokens JOIN made ON created_by = made.id
    )
    DELETE FROM bot_tokens WHERE member_id IN made RETURNING member_id
"""

# The maximum number of bots, each of which has a line in the member list.
MAX_BOTS = 50


class Bots:
    """The server's bots. `new_secret` creates the secret part of a bot's token."""

    def __init__(
        self,
        services: Services,
        members: Members,
        roles: Roles,
        tokens: AccessTokens,
        new_secret: Callable[[], str],
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._changes, self._new_id = services.audit, services.changes, services.new_id
        self._members = members
        self._roles = roles
        self._tokens = tokens
        self._new_secret = new_secret
        # Maps each bot's id to the record of its token.
        self._known: dict[str, BotToken] = {}
        services.changes.member_removal.append(self._forget)
        services.changes.member_gone.append(self._on_removed)

    async def load(self) -> None:
        """Load the tokens at startup, after the directory."""
        for token in await TOKENS.all(self._database):
            if self._is_bot(token.member_id):
                self._accept(token)

    def all(self) -> list[Bot]:
        """Return the bots, oldest first."""
        bots = sorted((m for m in self._directory.members.values() if m.bot), key=lambda member: member.id)
        return [self._to_response(bot) for bot in bots]

    @exclusive_write
    def create(self, actor_id: str | None, nickname: str, now: float) -> Write[Member, tuple[Member, str]]:
        """Create a bot with the member role. Return the bot and its token, which cannot be retrieved
        later.
        """
        if actor_id is not None:
            self._roles.require_holds_all_of(actor_id, MEMBER)
        if sum(member.bot for member in self._directory.members.values()) >= MAX_BOTS:
            raise ChatError("too_many")
        now_ms = int(now * 1000)
        wanted = Member(self._new_id(), readable_nickname(nickname), joined_at_ms=now_ms, bot=True)
        token, stored = self._new_token(wanted.id, actor_id, now_ms)

        def write(connection: Connection) -> Member:
            member = self._members.insert(connection, wanted)
            TOKENS.put(connection, stored)
            self._audit.record(connection, actor_id, "bot_create", member.id, {"nickname": nickname}, now)
            return member

        def created(member: Member) -> tuple[Member, str]:
            # Limit the bot to the creator's permissions before announcing it.
            self._directory.put_token_maker(member.id, actor_id)
            self._members.joined(member)
            self._accept(stored)
            self._push_changed()
            return member, token

        return Write(write, created)

    @exclusive_write
    def renew(self, actor_id: str | None, member_id: str, now: float) -> Write[None, str]:
        """Create and return a new token, which cannot be retrieved later. The previous token stops working
        immediately.
        """
        bot = self._require_managed(actor_id, member_id)
        token, stored = self._new_token(bot.id, actor_id, int(now * 1000))

        def write(connection: Connection) -> None:
            self._forget(connection, bot.id)
            TOKENS.put(connection, stored)
            self._audit.record(connection, actor_id, "bot_token", bot.id, {"nickname": bot.nickname}, now)

        def renewed(_: None) -> str:
            self._drop(self._made_through(bot.id))
            self._accept(stored)
            self._push_changed()
            return token

        return Write(write, renewed)

    @exclusive_write
    def delete(self, actor_id: str | None, member_id: str, now: float) -> Write[None, None]:
        """Delete a bot. Its messages remain."""
        bot = self._require_managed(actor_id, member_id)

        def write(connection: Connection) -> None:
            self._members.remove(connection, bot.id, now)
            self._audit.record(connection, actor_id, "bot_delete", bot.id, {"nickname": bot.nickname}, now)

        return Write(write, lambda _: self._members.removed(bot.id, "This bot was deleted"))

    def _require_managed(self, actor_id: str | None, member_id: str) -> Member:
        """Return the bot if the actor may know its token. Raises ChatError if the bot has a permission that
        the actor lacks, or does not rank below the actor.
        """
        if not self._is_bot(member_id):
            raise ChatError("unknown_member")
        if actor_id is not None:
            self._directory.require_above(actor_id, member_id)
            if self._directory.granted_by_own_roles(member_id) & ~self._directory.permissions(actor_id):
                raise ChatError("forbidden", "This bot has permissions that you do not have")
        return self._directory.members[member_id]

    def _new_token(self, member_id: str, actor_id: str | None, now_ms: int) -> tuple[str, BotToken]:
        token = f"{BOT_PREFIX}{member_id}.{self._new_secret()}"
        return token, BotToken(member_id, hashlib.sha256(token.encode()).digest(), actor_id, now_ms)

    def _accept(self, token: BotToken) -> None:
        """Accept the token as the bot's only token, and end the sessions of its previous token."""
        self._known[token.member_id] = token
        self._directory.put_token_maker(token.member_id, token.created_by)
        self._end(token.member_id, self._tokens.accept_bot(token.member_id, token.digest))

    def _end(self, member_id: str, sessions: Collection[str]) -> None:
        for ended in sessions:
            self._hub.cut_off(member_id, session_id=ended)
            for notify in self._changes.sessions_ended:
                notify(member_id, [ended])

    def _push_changed(self) -> None:
        self._hub.push("managed", Managed("bots"), PermissionHolders(Permission.MANAGE_BOTS))

    def _forget(self, connection: Connection, member_id: str) -> None:
        ended = connection.execute(_DELETE_MADE_THROUGH, (member_id,)).fetchall()
        for (bot_id,) in ended:
            for step in self._changes.token_removal:
                step(connection, bot_id)

    def _on_removed(self, member_id: str) -> None:
        """Revoke the token of a deleted bot, or all tokens that a departed member may know."""
        removed = [bot_id for bot_id in (member_id, *self._made_through(member_id)) if bot_id in self._known]
        self._drop(removed)
        if removed:
            self._push_changed()

    def _made_through(self, member_id: str) -> list[str]:
        """Return the ids of the bots whose tokens this member created, of the bots whose tokens those bots
        created, and so on.
        """
        ids = [member_id]
        for maker_id in ids:
            made = (bot_id for bot_id, token in self._known.items() if token.created_by == maker_id)
            ids += [bot_id for bot_id in made if bot_id not in ids]
        return ids[1:]

    def _drop(self, bot_ids: Collection[str]) -> None:
        """Stop accepting the tokens of these bots."""
        for bot_id in bot_ids:
            del self._known[bot_id]
            self._directory.put_token_maker(bot_id, None)
            self._end(bot_id, self._tokens.forget_bot(bot_id))

    def _is_bot(self, member_id: str) -> bool:
        member = self._directory.members.get(member_id)
        return member is not None and member.bot

    def _to_response(self, bot: Member) -> Bot:
        token = self._known.get(bot.id)
        return Bot(
            member=responses.member(bot),
            has_token=token is not None,
            token_made_by=token.created_by if token else None,
            token_made_at_ms=token.created_at_ms if token else None,
        )
