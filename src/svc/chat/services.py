"""Groups the services that all features use: database, directory, hub, audit log and hooks.

Has no rules of its own.
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
    """Hooks that run when something changes, or as part of the write that changes it.

    They let a feature react to another feature without importing it. None of them may wait.
    """

    # These hooks run after the directory has changed.
    channel_added: list[Callable[[Channel], None]] = field(default_factory=list)
    channel_removed: list[Callable[[Channel], None]] = field(default_factory=list)
    # Called with the members for whom a channel became visible or invisible.
    channel_shown: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    channel_hidden: list[Callable[[Channel, frozenset[str]], None]] = field(default_factory=list)
    # Called with a channel's id before the encryption of its calls is turned on or off. Raises ChatError.
    channel_sealing: list[Callable[[str], None]] = field(default_factory=list)
    # Called with the ids of members whose permissions changed in any channel.
    permissions_changed: list[Callable[[Collection[str]], None]] = field(default_factory=list)
    # Called when a member has joined.
    member_added: list[Callable[[Member], None]] = field(default_factory=list)
    # Called when a member has left or was removed.
    member_gone: list[Callable[[str], None]] = field(default_factory=list)
    # Called with the ids of a member's sessions that have ended.
    sessions_ended: list[Callable[[str, Collection[str]], None]] = field(default_factory=list)
    # Called as part of the write in which a member joins.
    member_admission: list[Callable[[Connection, Member], None]] = field(default_factory=list)
    # Called with the id, as part of the write that deletes a channel or removes a member.
    channel_deletion: list[Callable[[Connection, str], None]] = field(default_factory=list)
    member_removal: list[Callable[[Connection, str], None]] = field(default_factory=list)
    # Called as part of the write that ends a bot's token because the token's creator has left or has lost
    # their own token.
    token_removal: list[Callable[[Connection, str], None]] = field(default_factory=list)
    # Called as part of, and after, the write that deletes the messages that a member posted in a period (in
    # ms).
    messages_removal: list[Callable[[Connection, str, int, int], None]] = field(default_factory=list)
    messages_gone: list[Callable[[], None]] = field(default_factory=list)
    # Called as part of the write that transfers the ownership.
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
