"""What a voice room is of, a voice channel or a private conversation, and who may do what there.

A private conversation's room has its id, and exists for its members alone. What they may send there is what
their roles allow them on the server.
"""

from svc.chat.access.directory import VOICE, Channel, Directory
from svc.chat.access.permissions import Permission
from svc.chat.direct.rules import PrivateConversations
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, Only, Viewers


class Rooms:
    def __init__(self, directory: Directory, conversations: PrivateConversations) -> None:
        self._directory = directory
        # The members of a private conversation; nobody for another room.
        self.people_of = conversations.people_of

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
