"""Determines the contact URL that is sent to push services (RFC 8292 section 2.1).

If EXTERNAL_HOST is not set, the contact is the https origin from which a member last opened the web client.
Apple's push service rejects URLs such as https://localhost. A member could supply a wrong origin, but only
push services see it.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from svc.base.config_parsing import host_and_port
from svc.base.database import Connection, Database, StorageFailed
from svc.chat.access.origins import normalise

_FACT = "push_contact"
# Names that no push service can reach (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal).
_NEARBY = ("localhost", "local", "home.arpa", "internal", "test", "invalid")
_MAX_CHARACTERS = 300  # The limit for a name (253 according to RFC 1035) with a scheme and a port.

logger = logging.getLogger(__name__)


class Contact:
    """The contact URL for push services. `names` lists the hosts in EXTERNAL_HOST."""

    def __init__(self, database: Database, names: Sequence[str]) -> None:
        self._database = database
        urls = (f"https://{name}" for name in names if _is_public(host_and_port(name)[0]))
        self._configured = next(urls, "")
        self._seen = ""

    @property
    def address(self) -> str:
        """The https URL, or "" if none is known."""
        return self._configured or self._seen

    async def load(self) -> None:
        rows = await self._database.rows("SELECT value FROM facts WHERE name = ?", (_FACT,))
        self._seen = str(rows[0][0]) if rows else ""
        if not self.address:
            logger.info("push services have no address of this server: set EXTERNAL_HOST")

    async def seen(self, origin: str | None) -> None:
        """Record the origin from which a member has opened the web client. Storage failures are ignored."""
        if self._configured or origin is None or len(origin) > _MAX_CHARACTERS or origin == self._seen:
            return
        address = normalise(origin)
        if address is None or address == self._seen or not address.startswith("https://"):
            return
        if not _is_public(urlsplit(address).hostname or ""):
            return
        self._seen = address

        def write(connection: Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (_FACT, address))

        with suppress(StorageFailed):
            await self._database.write(write)


def _is_public(host: str) -> bool:
    """Return whether push services accept a contact URL with this host. They reject IP addresses."""
    try:
        ip_address(host)
    except ValueError:
        name = host.lower().rstrip(".")
        return "." in name and not any(name == near or name.endswith(f".{near}") for near in _NEARBY)
    return False
