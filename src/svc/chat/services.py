"""Groups the services for all features: database, directory, hub, audit log and hooks.

Contains no business logic.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from svc.base.database import Connection, Database
from svc.base.ids import Ids
from svc.chat.access.directory import Channel, Directory, Member
from svc.chat.audit.log import Audit
from svc.chat.live.hub import Hub


@dataclass(frozen=True, slots=True)
class Changes:
    """Hooks that run after a change, or within the write transaction that makes it.

    They let a feature react to another feature without importing it. No hook may block or await anything.
    """

    # These hooks run after the directory has changed.
    channel_added: list[Callable[[Channel], None]] = field(default_factory=list)
    channel_removed: list[Callable[[Channel], None]] = field(default_factory=list)
    # Called with a channel and the ids of the members for whom it became visible or invisible.
    channel_shown: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    channel_hidden: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    # Called with a channel's id before the encryption of its calls is turned on or off. Raises ChatError.
    channel_sealing: list[Callable[[str], None]] = field(default_factory=list)
    # Called with the ids of members whose permissions changed in any channel.
    permissions_changed: list[Callable[[Collection[str]], None]] = field(default_factory=list)
    # Called after a member joins.
    member_added: list[Callable[[Member], None]] = field(default_factory=list)
    # Called after a member leaves or is removed.
    member_gone: list[Callable[[str], None]] = field(default_factory=list)
    # Called with the ids of a member's sessions that have ended.
    sessions_ended: list[Callable[[str, Collection[str]], None]] = field(default_factory=list)
    # Called within the write transaction that adds a member.
    member_admission: list[Callable[[Connection, Member], None]] = field(default_factory=list)
    # Called with the channel's or member's id within the write transaction that deletes the channel or
    # removes the member.
    channel_deletion: list[Callable[[Connection, str], None]] = field(default_factory=list)
    member_removal: list[Callable[[Connection, str], None]] = field(default_factory=list)
    # Called within the write transaction that revokes a bot's token because the token's creator has left or
    # lost their own token.
    token_removal: list[Callable[[Connection, str], None]] = field(default_factory=list)
    # Called within and after the write transaction that deletes a member's messages from a period. Times are
    # in ms.
    messages_removal: list[Callable[[Connection, str, int, int], None]] = field(default_factory=list)
    messages_gone: list[Callable[[], None]] = field(default_factory=list)
    # Called within the write transaction that transfers ownership of the community.
    owner_change: list[Callable[[Connection], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Services:
    database: Database
    directory: Directory
    hub: Hub
    audit: Audit
    changes: Changes
    ids: Ids

    @property
    def new_id(self) -> Callable[[], str]:
        return self.ids.new
