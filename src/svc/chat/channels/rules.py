"""Which channels there are. No HTTP, no SQL."""

from collections.abc import Iterable

from svc.base.database import Database
from svc.chat.access.directory import Channel, Directory
from svc.chat.channels import store


class Channels:
    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory

    async def load(self, first: Iterable[Channel], now_ms: int) -> None:
        """Fill the directory, at start; `first` are the channels of a new server."""
        await self._database.write(lambda connection: store.seed(connection, first, now_ms))
        for channel in await store.load(self._database):
            self._directory.put_channel(channel)
