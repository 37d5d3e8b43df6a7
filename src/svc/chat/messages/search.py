"""Searches messages, lists messages that mention a member, and keeps the search index up to date.

A search finds only messages that the member may view. Indexing uses separate write transactions, so posting
never waits for it. Indexing stores its progress and continues after a restart. This module contains neither
HTTP nor SQL code.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.query_pool import PoolBusy, QueryTooLong
from svc.base.tasks import continue_on_errors
from svc.chat.access.directory import Channel
from svc.chat.errors import ChatError
from svc.chat.messages import search_store, store
from svc.chat.messages.message import Message, first_number_at, number_of
from svc.chat.messages.query import EngineQuery, Query, parse
from svc.chat.messages.search_words import phrase
from svc.chat.services import Services
from svc.chat.text_folding import fold, fold_name

# A batch takes about 5 ms of the writer's time. Other writes then get _SHARE times as much.
_BATCH = 100
_SHARE = 4
# Indexing starts this long after a commit, so that several messages are indexed in one transaction.
_PAUSE_S = 0.25
# A search first waits this long for the index to be brought up to date. It then omits messages that are not
# indexed yet.
_CATCHING_UP_S = 0.2
# How long nonces are stored. A client that got no response does not repeat its request after this time.
NONCES_KEPT_S = 7 * 24 * 3600.0
_TIDY_EVERY_S = 600.0
# Greater than any cursor: SQLite's largest integer.
_END = 2**63 - 1

_FAULT_MESSAGES = "messages could not be indexed", "indexing failed"

logger = logging.getLogger(__name__)


class Indexer:
    """The background task that indexes messages. Call `wake` after each commit."""

    def __init__(self, database: Database, released: Callable[[Connection, str], None]) -> None:
        """Create the indexer. `released` is called with a message's id within the write transaction that
        deletes it.
        """
        self._database = database
        self._released = released
        self._due = asyncio.Event()
        self._due.set()
        # The number of calls to `wake`, and the number of those calls whose messages are indexed.
        # `_committed` starts at 1, because an earlier run may have left messages unindexed.
        self._committed, self._indexed = 1, 0
        # Held while messages are indexed, so that concurrent searches index them only once.
        self._turn = asyncio.Lock()

    def wake(self) -> None:
        self._due.set()
        self._committed += 1

    async def wait_indexed(self) -> None:
        """Wait until everything committed so far is indexed. Raises StorageFailed."""
        wanted = self._committed
        if self._indexed >= wanted:
            return
        async with self._turn:
            if self._indexed >= wanted:
                return
            wanted = self._committed
            await self._bit_by_bit(
                lambda connection: search_store.index_changes(connection, _BATCH) == _BATCH
            )
            self._indexed = wanted

    async def run(self) -> NoReturn:
        tidy_at = 0.0
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                self._due.clear()
                try:
                    await self.wait_indexed()
                    if time.monotonic() >= tidy_at:
                        tidy_at = time.monotonic() + _TIDY_EVERY_S
                        await self._tidy_up()
                except StorageFailed:
                    self._due.set()
                    raise
            await self._due.wait()
            await asyncio.sleep(_PAUSE_S)

    async def _tidy_up(self) -> None:
        """Delete old nonces, and the messages of deleted channels."""
        old = int((time.time() - NONCES_KEPT_S) * 1000)
        await self._bit_by_bit(lambda connection: store.forget_nonces(connection, old, _BATCH) == _BATCH)
        await self._bit_by_bit(self._remove_of_gone_channels)

    def _remove_of_gone_channels(self, connection: Connection) -> bool:
        messages = store.of_gone_channels(connection, _BATCH)
        for message in messages or ():
            search_store.changes(connection, message)
            store.delete(connection, message.n)
            self._released(connection, message.id)
        return messages is not None

    async def _bit_by_bit(self, step: Callable[[Connection], bool]) -> None:
        """Repeat a write until nothing is left to do. Pause in between, so that other writes get most of the
        time.
        """
        before = time.monotonic()
        while await self._database.write(step):
            await asyncio.sleep(_SHARE * (time.monotonic() - before))
            before = time.monotonic()


class Search:
    def __init__(self, services: Services, indexer: Indexer) -> None:
        self._database, self._directory = services.database, services.directory
        self._indexer = indexer
        self._searching: set[str] = set()

    async def find(
        self, member_id: str, text: str, before_id: str | None, limit: int
    ) -> tuple[list[Message], bool]:
        """Search with `_find`, but allow only one search per member at a time, and limit its duration."""
        if member_id in self._searching:
            raise ChatError("search_running")
        self._searching.add(member_id)
        try:
            # If the disk is full, the search covers only the messages that are already indexed.
            with suppress(TimeoutError, StorageFailed):
                async with asyncio.timeout(_CATCHING_UP_S):
                    await self._indexer.wait_indexed()
            return await self._find(member_id, text, before_id, limit)
        except QueryTooLong:
            raise ChatError("search_too_long") from None
        except PoolBusy:
            raise ChatError("search_busy") from None
        finally:
            self._searching.discard(member_id)

    async def _find(
        self, member_id: str, text: str, before_id: str | None, limit: int
    ) -> tuple[list[Message], bool]:
        """Return the matches older than the given message, newest first, and whether there are more."""
        query = parse(text)
        channel_ids = self._channels(member_id, query)
        authors = self._authors(query.from_names)
        if not channel_ids or (query.from_names and not authors):
            return [], False
        sought = self._sought(query, channel_ids, authors)
        bounds = _bounds(query, before_id)

        def read(connection: Connection) -> tuple[list[Message], bool]:
            beginnings = sought.beginnings()
            expandable = search_store.expandable(connection, beginnings) if beginnings else set()
            words = sought.to_fts5(expandable)
            numbers = search_store.find(connection, words, *bounds, limit + 1)
            return store.read_these(connection, numbers[:limit]), len(numbers) > limit

        messages, more = await self._database.search(read)
        # A message or the member's permissions may have changed since the message was indexed.
        visible = {channel.id for channel in self._directory.visible_channels(member_id)}
        return [message for message in messages if message.channel_id in visible], more

    def _sought(self, query: Query, channel_ids: Sequence[str], authors: Sequence[str]) -> EngineQuery:
        groups: list[Iterable[str]] = []
        # This condition is the most expensive. A member who may view every channel does not need it.
        if len(channel_ids) < len(self._directory.channels) or not _narrows(query):
            groups.append([search_store.channel_tag(channel_id) for channel_id in channel_ids])
        if authors:
            groups.append([search_store.author_tag(author_id) for author_id in authors])
        groups += [[search_store.has_tag(what)] for what in sorted(query.has)]
        no_tags = [search_store.author_tag(author_id) for author_id in self._authors(query.not_from)]
        no_tags += [search_store.has_tag(what) for what in sorted(query.has_no)]
        phrases = [phrase(text, begun=text == query.begun) for text in query.phrases]
        return EngineQuery(phrases, groups, [phrase(text) for text in query.no_phrases], no_tags)

    def _channels(self, member_id: str, query: Query) -> list[str]:
        """Return the ids of the channels to search: the query's channels, or all visible ones, minus the
        excluded ones.
        """
        visible = self._directory.visible_channels(member_id)
        channel_ids = [channel.id for channel in visible]
        if query.in_names:
            channel_ids = _channels_named(visible, query.in_names)
        excluded = _channels_named(visible, query.not_in) if query.not_in else []
        return [channel_id for channel_id in channel_ids if channel_id not in excluded]

    def _authors(self, names: Sequence[str]) -> list[str]:
        """Return the ids of authors with the given names or ids. An id may belong to a former member or a
        webhook.
        """
        wanted = {fold(name.removeprefix("@")) for name in names}
        members = self._directory.members.values()
        ids = [member.id for member in members if fold_name(member.nickname) in wanted]
        return [*ids, *wanted]

    async def mentions(self, member_id: str, before: int | None, limit: int) -> tuple[list[Message], bool]:
        """Return messages that mention a member, newest first, and whether there are more.

        Includes all channels and threads, but only messages older than the cursor `before`. `rules` stores
        the mentions when a message is posted.
        """
        listed = self._listed_channels(member_id)
        end = _END if before is None else before

        def read(connection: Connection) -> tuple[list[Message], bool]:
            numbers = store.mentions(connection, member_id, listed, end, limit + 1)
            return store.read_these(connection, numbers[:limit]), len(numbers) > limit

        messages, more = await self._database.read(read)
        # Permissions may have changed during the read.
        listed = self._listed_channels(member_id)
        return [message for message in messages if message.channel_id in listed], more

    def _listed_channels(self, member_id: str) -> list[str]:
        """Return the member's listed channels. Archived channels are excluded, as in the unread counts."""
        return [channel.id for channel in self._directory.listed_channels(member_id)]


def _channels_named(visible: Sequence[Channel], names: Sequence[str]) -> list[str]:
    wanted = {fold(name.removeprefix("#")) for name in names}
    ids = [c.id for c in visible if c.id.casefold() in wanted or fold_name(c.name) in wanted]
    if not ids:
        raise ChatError("unknown_channel")
    return ids


def _narrows(query: Query) -> bool:
    return bool(query.phrases or query.from_names or query.has)


def _bounds(query: Query, before_id: str | None) -> tuple[int, int]:
    """Return the lower and upper bounds of the search as cursors. Both are exclusive."""
    after = -1 if query.after_ms is None else first_number_at(query.after_ms) - 1
    before = _END if query.before_ms is None else first_number_at(query.before_ms)
    return after, before if before_id is None else min(before, number_of(before_id))
