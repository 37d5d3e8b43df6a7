"""What every group of features is built on: the database, who may do what, who hears, and what changes.

Has no rules of its own.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from svc.base.database import Connection, Database
from svc.base.ids import Ids
from svc.chat.access.directory import Channel, Directory, Member
from svc.chat.audit.rules import Audit
from svc.chat.live.hub import Hub


@dataclass(frozen=True, slots=True)
class Changes:
    """Who wants to know when something has changed, or to have a hand in the write that changes it.

    A feature that is told of another's changes is not imported by it. All are called without waiting.
    """

    # Once the directory has been changed.
    channel_added: list[Callable[[Channel], None]] = field(default_factory=list)
    channel_removed: list[Callable[[Channel], None]] = field(default_factory=list)
    # Members who have gained sight of a channel, and who have lost it.
    channel_shown: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    channel_hidden: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    # Before the calls of a channel are encrypted or not any more, by its id. Raises ChatError.
    channel_sealing: list[Callable[[str], None]] = field(default_factory=list)
    # The ids of members who may do more or less than before, somewhere.
    permissions_changed: list[Callable[[Collection[str]], None]] = field(default_factory=list)
    # Somebody has joined.
    member_added: list[Callable[[Member], None]] = field(default_factory=list)
    # Somebody has left, or was removed.
    member_gone: list[Callable[[str], None]] = field(default_factory=list)
    # The ids of sessions of a member that have ended.
    sessions_ended: list[Callable[[str, Collection[str]], None]] = field(default_factory=list)
    # A step of the write in which somebody joins.
    member_admission: list[Callable[[Connection, Member], None]] = field(default_factory=list)
    # Steps of the write in which a channel is deleted, or a member goes, by id.
    channel_deletion: list[Callable[[Connection, str], None]] = field(default_factory=list)
    member_removal: list[Callable[[Connection, str], None]] = field(default_factory=list)
    # A step of the write in which messages of a member go that were posted between two moments, in ms; and
    # what follows it.
    messages_removal: list[Callable[[Connection, str, int, int], None]] = field(default_factory=list)
    messages_gone: list[Callable[[], None]] = field(default_factory=list)
    # A step of the write in which the server is handed to another owner.
    owner_change: list[Callable[[Connection], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ground:
    database: Database
    directory: Directory
    hub: Hub
    audit: Audit
    changes: Changes
    ids: Ids

    @property
    def new_id(self) -> Callable[[], str]:
        return self.ids.new
