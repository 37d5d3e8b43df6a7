"""Builds and connects the parts of the messages feature.

This module contains no business logic. Other features may use `messages` to post, and `reads` to get unread
counts.
"""

import time
from collections.abc import Awaitable, Callable, Mapping

from svc.chat.access.tokens import Session
from svc.chat.messages import store
from svc.chat.messages.history import History, ReadMarks
from svc.chat.messages.index_cleanup import IndexCleanup
from svc.chat.messages.page_cache import PageCache
from svc.chat.messages.personal_data import OwnMessages
from svc.chat.messages.ports import MessagePorts
from svc.chat.messages.presence import Presence
from svc.chat.messages.reactions import Annotations
from svc.chat.messages.retention import Retention
from svc.chat.messages.rules import Messages
from svc.chat.messages.search import Indexer, Search
from svc.chat.messages.threads import Threads
from svc.chat.services import Changes, Services


class MessagesFeature:
    """The messages feature. `services.ids` must generate only message ids."""

    def __init__(self, services: Services, cache_ttl_ms: int, ports: MessagePorts) -> None:
        self.database, self._ids = services.database, services.ids
        self.urls = ports.urls
        self.indexer = Indexer(services.database, ports.files.release_message)
        pages = PageCache(cache_ttl_ms / 1000, time.monotonic)
        self.reads = ReadMarks(services)
        self.threads = Threads(services)
        self.messages = Messages(services, pages, self.reads, self.threads, self.indexer, ports)
        self.marking = Annotations(services, ports, self.messages.written)
        self.history = History(services, pages)
        self.search = Search(services, self.indexer)
        self.presence = Presence(services, time.monotonic)
        self.own = OwnMessages(services.database, self.messages, self.urls)
        self.index_cleanup = IndexCleanup(services.database, self.indexer, time.time)
        self.retention = Retention(services.database, self.messages, ports, time.time)

    def follow(self, changes: Changes) -> None:
        """Register the cleanup for deleted channels and removed members."""
        changes.channel_deletion.append(store.forget_channel)
        changes.member_admission.append(self.reads.admit)
        changes.member_added.append(self.reads.added)
        changes.channel_removed.extend([self.reads.forget_channel, self.threads.forget_channel])
        changes.member_removal.append(store.forget_member)
        changes.member_gone.extend([self.reads.forget_member, self.threads.forget_member])

    async def load(self) -> None:
        """Load the unread counts. Call this after the directory is loaded."""
        # New messages must come after all existing ones, even if the clock was ahead when they were posted.
        self._ids.rise_above(await store.newest(self.database))
        await self.reads.load()
        await self.threads.load()

    def welcome(self, session: Session) -> Mapping[str, object]:
        return {**self.reads.welcome(session), **self.threads.welcome(session)}

    def present(self, session: Session) -> Mapping[str, object]:
        """Return the current presence of all members, for a client that reconnects. Presence events are not
        stored, so they cannot be replayed.
        """
        return self.presence.welcome(session)

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.indexer.run, self.retention.run, self.index_cleanup.run]

    def close(self) -> None:
        """Stop the presence timers."""
        self.presence.close()
