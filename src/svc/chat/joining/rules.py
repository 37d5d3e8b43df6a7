"""Who may join, and under what name. No HTTP, no storage."""

import unicodedata
from collections.abc import Callable

from svc.base.database import Database
from svc.base.grants import same_secret
from svc.chat.access.directory import Member
from svc.chat.access.tokens import AccessTokens
from svc.chat.errors import ChatError
from svc.chat.members.rules import Members

MAX_NICKNAME_CHARACTERS = 32
# Letters, numbers, punctuation and symbols; a name of spaces, joiners and
# combining marks alone would show nothing.
_VISIBLE = frozenset("LNPS")
# Controls, lone surrogates, line and paragraph separators. Format characters are
# needed by some scripts and emoji, except those that turn the text around them.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Joining:
    """`new_id` makes the id of a new member, and of a session."""

    def __init__(
        self,
        invite_code: str,
        tokens: AccessTokens,
        database: Database,
        members: Members,
        new_id: Callable[[], str],
    ) -> None:
        self._invite_code = invite_code
        self._tokens = tokens
        self._database = database
        self._members = members
        self._new_id = new_id

    async def join(self, nickname: str, invite_code: str, now: float) -> tuple[str, Member]:
        """Admit somebody: their access token, and who they are from now on."""
        name = readable_nickname(nickname)
        if not invite_code.strip():
            raise ChatError("invite_required")
        if not same_secret(invite_code.strip(), self._invite_code):
            raise ChatError("invite_invalid")
        member = Member(self._new_id(), name, joined_at_ms=int(now * 1000))
        await self._database.write(lambda connection: self._members.insert(connection, member))
        self._members.joined(member)
        return self._tokens.issue(member, self._new_id(), now), member


def readable_nickname(text: str) -> str:
    """The name as it will be shown, or ChatError."""
    # The bound comes first: normalising may not be asked to chew a megabyte.
    if len(text) > 4 * MAX_NICKNAME_CHARACTERS:
        raise ChatError("invalid_nickname")
    name = unicodedata.normalize("NFC", text.strip())
    categories = [unicodedata.category(character) for character in name]
    if not 1 <= len(name) <= MAX_NICKNAME_CHARACTERS:
        raise ChatError("invalid_nickname")
    if _REFUSED.intersection(categories) or _DIRECTION_CONTROLS.intersection(name):
        raise ChatError("invalid_nickname")
    if not any(category[0] in _VISIBLE for category in categories):
        raise ChatError("invalid_nickname")
    return name
