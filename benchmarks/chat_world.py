"""Provides a chat server without sockets: members, channels and the rules for messages, with a real
database.
"""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from svc.base.commit_log import CommitLog
from svc.base.database import Connection, Database
from svc.base.migrations import migrations_in
from svc.chat.access.directory import TEXT, Channel, Directory, Member
from svc.chat.access.media_urls import MediaUrls
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.messages.feature import MessagesFeature
from tests.kit.message_ports import message_ports
from tests.kit.services import services_on

CACHE_TTL_MS = 30_000


@dataclass
class World:
    database: Database
    directory: Directory
    feature: MessagesFeature
    member_ids: list[str]


@asynccontextmanager
async def opened_world(
    folder: Path, members: int, channels: int = 1, log: CommitLog | None = None
) -> AsyncIterator[World]:
    """Open a world with channels `general`, `channel-1` and so on.

    Create the database if it does not exist. With `log`, each commit waits for the log.
    """
    directory = Directory(time.time)
    member_ids = [f"member-{number}" for number in range(members)]
    for member_id in member_ids:
        directory.put_member(Member(member_id, member_id, joined_at_ms=0))
    for number in range(channels):
        channel_id = f"channel-{number}" if number else "general"
        directory.put_channel(Channel(channel_id, channel_id, TEXT, position=number))
    database = await Database.open(
        folder / "community.sqlite3", migrations_in(SCHEMA_FOLDER), folder / "backups", log
    )
    try:
        await database.write(lambda connection: _insert_channels(connection, directory))
        services = services_on(database, directory, time.time, random_bits=random.getrandbits)
        feature = MessagesFeature(services, CACHE_TTL_MS, message_ports(MediaUrls("secret", time.time)))
        await feature.load()
        yield World(database, directory, feature, member_ids)
    finally:
        await database.close()


def _insert_channels(connection: Connection, directory: Directory) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO channels (id, name, kind, position, created_at_ms) VALUES (?, ?, ?, 0, 0)",
        [(channel.id, channel.name, channel.kind) for channel in directory.channels.values()],
    )
