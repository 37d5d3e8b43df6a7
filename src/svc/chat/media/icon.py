"""The server's own icon: which object it is. Shown to anybody, also before they join."""

from svc.base.database import Connection, Database
from svc.chat.access.media_urls import PREFIX
from svc.chat.media import store
from svc.chat.media.rules import SERVER, Media

_OWNER_ID = "icon"


class ServerIcon:
    def __init__(self, database: Database, media: Media) -> None:
        self._database = database
        self._media = media
        self.key: str | None = None

    async def load(self) -> None:
        self.key = await self._database.write(store.icon_key)

    def address(self) -> str | None:
        """Where anybody finds it; another icon has another address."""
        return None if self.key is None else f"/icon?v={self.key.removeprefix(PREFIX)[:8]}"

    def set(self, connection: Connection, key: str | None) -> None:
        """A step of a write; `changed` follows."""
        self._media.release(connection, SERVER, _OWNER_ID)
        store.set_icon_key(connection, key)
        if key is not None:
            self._media.refer(connection, key, SERVER, _OWNER_ID)

    def changed(self, key: str | None) -> None:
        self.key = key
