"""The control socket's requests: which command is asked for, what it takes, and how it is answered.

The commands are the features': `Commands` in their `requests`, a method each. Whoever asks has the data
folder, and with it everything: no permission is checked, and the audit log has no actor. The
rules themselves hold as for anybody. `svc admin` asks over the socket or, when no server
runs, on a community that it has opened itself. Knows no feature.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar, get_type_hints

from msgspec import Struct, defstruct, structs, to_builtins

from svc.base.database import StorageFailed
from svc.chat.access.directory import Directory
from svc.chat.described import Data
from svc.chat.errors import ChatError
from svc.chat.requests import converted

Run = TypeVar("Run", bound=Callable[..., Awaitable[object]])
Command = Callable[[Data], Awaitable[object]]

logger = logging.getLogger(__name__)


def command(name: str) -> Callable[[Run], Run]:
    """Declare a method of `Commands`: its parameters are what it takes, and None answers with nothing.

    An argument that is null is as good as absent. A single parameter `arguments` takes whatever is sent,
    nulls too.
    """

    def declared(run: Run) -> Run:
        types, parameters = get_type_hints(run, include_extras=True), inspect.signature(run).parameters
        fields: list[Any] = [
            (one, types[one]) if taken.default is taken.empty else (one, types[one], taken.default)
            for one, taken in parameters.items()
            if one != "self"
        ]
        takes = None if "arguments" in types else defstruct("Arguments", fields, kw_only=True)
        run.command = name, takes  # type: ignore[attr-defined]
        return run

    return declared


class Commands:
    """What a feature's operator can ask."""

    def table(self) -> Mapping[str, Command]:
        methods = [value for value in vars(type(self)).values() if hasattr(value, "command")]
        return {run.command[0]: self._command(run, run.command[1]) for run in methods}

    def _command(self, run: Callable[..., Awaitable[object]], takes: type[Struct] | None) -> Command:
        async def answer(arguments: Data) -> object:
            if takes is None:
                return await run(self, arguments)
            said = {name: value for name, value in arguments.items() if value is not None}
            found = await run(self, **structs.asdict(converted(said, takes)))
            return {} if found is None else found

        return answer


class Control:
    def __init__(self, commands: Iterable[Commands]) -> None:
        self._table = {name: answer for those in commands for name, answer in those.table().items()}

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


# Whom and what an operator names: by its id or, where it is the only one, by its name.


def member_called(directory: Directory, name: str, *, or_gone: bool = False) -> str:
    """With `or_gone` what names nobody here is the id of somebody who has left. Raises ChatError."""
    namesakes = [member.id for member in directory.members.values() if member.nickname == name]
    return _only("member", name, directory.members, namesakes, name if or_gone else None)


def role_called(directory: Directory, name: str) -> str:
    """Raises ChatError."""
    return _only("role", name, directory.roles, [r.id for r in directory.roles.values() if r.name == name])


def channel_called(directory: Directory, name: str) -> str:
    """Raises ChatError."""
    wanted = name.removeprefix("#").casefold()
    named = [c.id for c in directory.channels.values() if c.name.casefold() == wanted]
    return _only("channel", name, directory.channels, named)


def _only(kind: str, name: str, ids: Collection[str], named: list[str], otherwise: str | None = None) -> str:
    if name in ids:
        return name
    if len(named) > 1:
        raise ChatError("invalid_request", f"{len(named)} {kind}s are called {name}: say which by id")
    if not named and otherwise is None:
        raise ChatError(f"unknown_{kind}")
    return named[0] if named else otherwise or ""
