"""The parts of the feature, built and connected: what the community sees of messages.

Has no rules of its own. What other features may use: `messages` to post, `reads` to count.
"""

import time
from collections.abc import Awaitable, Callable, Mapping

from svc.base.database import Database
from svc.base.ids import Ids
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Channel, Directory
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.tokens import Asker
from svc.chat.audit.rules import Audit
from svc.chat.live.hub import Hub
from svc.chat.messages import store
from svc.chat.messages.inbox import Inbox
from svc.chat.messages.marking import Marking
from svc.chat.messages.own import OwnMessages
from svc.chat.messages.page_cache import PageCache
from svc.chat.messages.presence import Presence
from svc.chat.messages.reading import History, Reads
from svc.chat.messages.retention import Retention
from svc.chat.messages.rules import Messages, Surroundings
from svc.chat.messages.searching import Indexer, Search
from svc.chat.messages.threads import Threads


class MessagesFeature:
    """`ids` makes the ids of messages, and of nothing else."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        ids: Ids,
        cache_ttl_ms: int,
        surroundings: Surroundings,
        urls: MediaUrls,
    ) -> None:
        self._database = database
        self._ids = ids
        self.urls = urls
        self.indexer = Indexer(database, surroundings.released)
        pages = PageCache(cache_ttl_ms / 1000, time.monotonic)
        self.reads = Reads(database, directory, hub)
        self.threads = Threads(database, directory, hub)
        self.messages = Messages(
            database,
            directory,
            hub,
            audit,
            ids,
            pages,
            self.reads,
            self.threads,
            self.indexer,
            surroundings,
            urls,
        )
        self.marking = Marking(database, directory, hub, audit, pages, self.indexer, urls)
        self.history = History(database, directory, pages)
        self.search = Search(database, directory)
        self.inbox = Inbox(database, directory)
        self.presence = Presence(directory, hub)
        self.own = OwnMessages(database, self.messages, urls)
        self.retention = Retention(
            database, self.messages, surroundings.retention_days, surroundings.let_go, time.time
        )

    def follow(self, changes: Changes) -> None:
        """Let go of what hangs on channels and members that go."""
        changes.channel_deletion.append(store.note_channel_gone)
        changes.member_admission.append(self.reads.admit)
        changes.member_added.append(self.reads.added)
        changes.channel_deletion.append(self.threads.forget_channel_in)
        changes.channel_removed.append(self._forget_channel)
        changes.member_removal.extend([store.forget_member, self.threads.forget_member_in])
        changes.member_gone.extend([self.reads.forget_member, self.threads.forget_member])

    async def load(self) -> None:
        """Once the directory is filled."""
        # New messages come after all others, also where those are of a clock that was ahead.
        self._ids.rise_above(await store.newest(self._database))
        await self.reads.load()
        await self.threads.load()

    def welcome(self, asker: Asker) -> Mapping[str, object]:
        return {**self.reads.welcome(asker), **self.threads.welcome(asker)}

    def present(self, asker: Asker) -> Mapping[str, object]:
        """What no push that is kept tells of."""
        return self.presence.welcome(asker)

    def _forget_channel(self, channel: Channel) -> None:
        self.reads.forget_channel(channel.id)
        self.threads.forget_channel(channel.id)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.indexer.run, self.retention.run]

    def close(self) -> None:
        """The server stops."""
        self.presence.close()
