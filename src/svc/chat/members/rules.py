"""Who is a member, and what becomes of members. No HTTP, no SQL."""

from svc.base.database import Connection, Database
from svc.chat.access.directory import Directory, Member
from svc.chat.access.tokens import Asker
from svc.chat.live.audience import EVERYONE
from svc.chat.live.hub import Hub
from svc.chat.members import store


class Members:
    def __init__(self, database: Database, directory: Directory, hub: Hub) -> None:
        self._database = database
        self._directory = directory
        self._hub = hub

    def welcome(self, asker: Asker) -> dict[str, object]:
        """What a member who signs in needs to know about themselves."""
        return {"member": self._directory.member(asker.member_id).described()}

    async def load(self) -> None:
        """Fill the directory, at start."""
        for role in await store.load_roles(self._database):
            self._directory.put_role(role)
        for member in await store.load_members(self._database):
            self._directory.put_member(member)

    def insert(self, connection: Connection, member: Member) -> None:
        """A step of a write in which somebody joins; `joined` follows once it is durable."""
        store.insert_member(connection, member)

    def joined(self, member: Member) -> None:
        self._directory.put_member(member)
        self._hub.push("member_joined", member.described(), EVERYONE)
