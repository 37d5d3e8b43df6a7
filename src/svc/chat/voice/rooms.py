"""What a voice room is of, a voice channel or a private conversation, and who may do what there.

A private conversation's room has its id, and exists for its members alone. What they may send there is what
their roles allow them on the server.
"""

from collections.abc import Callable
from typing import Protocol

from svc.chat.access.directory import VOICE, Channel, Directory
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, Only, Viewers

_NOBODY: frozenset[str] = frozenset()


class Conversations(Protocol):
    """Private conversations, as calls know them."""

    # Told of a conversation and of who is not in it any more.
    on_left: list[Callable[[str, str], None]]

    def people_of(self, conversation_id: str) -> frozenset[str]:
        """The members; nobody, where there is no such conversation."""

    def require_writable(self, member_id: str, conversation_id: str) -> object:
        """Raises ChatError where a member may not write to the others now."""

    def called(self, conversation_id: str, caller_id: str) -> None:
        """A member goes into its call, in which nobody is."""


class SealedCalls(Protocol):
    """The groups of encrypted channels, as calls know them."""

    async def require_sealing(self, asker: Asker, channel_id: str, sealed: bool) -> None:
        """Raises ChatError where a client that seals, or does not, may not go into a channel."""


class Rooms:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.sealed_calls: SealedCalls | None = None
        self.conversations: Conversations | None = None

    def people_of(self, room_id: str) -> frozenset[str]:
        """The members of a private conversation; nobody for another room."""
        return self.conversations.people_of(room_id) if self.conversations else _NOBODY

    def require_writable(self, member_id: str, room_id: str) -> None:
        """Raises ChatError where a member of a private conversation may not write to the others now."""
        if self.conversations:
            self.conversations.require_writable(member_id, room_id)

    async def require_sealing(self, asker: Asker, room_id: str, sealed: bool) -> None:
        """Raises ChatError where a client that seals, or does not, may not go into a channel."""
        if self.sealed_calls:
            await self.sealed_calls.require_sealing(asker, room_id, sealed)

    def called(self, room_id: str, caller_id: str) -> None:
        """A member goes where nobody is: a private call rings for the others."""
        if self.conversations and self.is_private(room_id):
            self.conversations.called(room_id, caller_id)

    def is_private(self, room_id: str) -> bool:
        return bool(self.people_of(room_id))

    def channel(self, room_id: str) -> Channel | None:
        """None where it is of a private conversation, or of nothing any more."""
        return self._directory.channels.get(room_id)

    def audience(self, room_id: str) -> Audience:
        """Who hears of what happens there."""
        people = self.people_of(room_id)
        return Only(people) if people else Viewers(room_id)

    def permissions(self, member_id: str, room_id: str) -> Permission:
        people = self.people_of(room_id)
        if not people:
            return self._directory.permissions(member_id, room_id)
        return self._directory.permissions(member_id) if member_id in people else Permission(0)

    def may(self, member_id: str, permission: Permission, room_id: str) -> bool:
        return permission in self.permissions(member_id, room_id)

    def require(self, member_id: str, permission: Permission, room_id: str) -> None:
        """Raises ChatError. Who may not see a room is told that there is none."""
        people = self.people_of(room_id)
        if member_id in people:
            self._directory.require(member_id, permission)
        elif people or self._directory.channel(member_id, room_id).kind != VOICE:
            raise ChatError("unknown_channel")
        else:
            self._directory.require(member_id, permission, room_id)
