"""The control socket's requests: which command is asked for, and how it is answered.

The commands are the features' (`commands.py` in their folders). Whoever asks has the data
folder, and with it everything: no permission is checked, and the audit log has no actor. The
rules themselves hold as for anybody. `svc admin` asks over the socket or, when no server
runs, on a community that it has opened itself. Knows no feature.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from msgspec import to_builtins

from svc.base.database import StorageFailed
from svc.chat.errors import ChatError
from svc.chat.fields import Data

logger = logging.getLogger(__name__)

Command = Callable[[Data], Awaitable[object]]


class Commands:
    def __init__(self, tables: Iterable[Mapping[str, Command]]) -> None:
        self._table = {name: command for table in tables for name, command in table.items()}

    async def run(self, command: str, arguments: Data) -> Mapping[str, object]:
        """The answer to a request: `{result}`, or `{error, message}`."""
        try:
            if (asked := self._table.get(command)) is None:
                raise ChatError("unknown_event", "There is no such command")
            # `svc admin` reads the same where nothing is sent, on a community of its own.
            return {"result": to_builtins(await asked(arguments))}
        except ChatError as refusal:
            return refusal.body()
        except StorageFailed:
            return ChatError("storage_unavailable").body()
        except Exception:
            logger.exception("control command failed", extra={"command": command})
            return ChatError("internal_error").body()
