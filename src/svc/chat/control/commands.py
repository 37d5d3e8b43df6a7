"""Dispatches commands from the control socket: parses arguments, calls the command and formats the response.

Features define commands as methods of `Commands` in their `endpoints`. Anyone who can use the socket has
access to the data folder, so permissions are not checked, and audit log entries have no actor. All other
rules apply. `svc admin` sends commands over the socket or, if no server is running, opens the community and
calls them directly. Does not depend on any feature.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar, get_type_hints

from msgspec import Struct, defstruct, structs, to_builtins

from svc.base.database import StorageFailed
from svc.chat.access.directory import Directory
from svc.chat.endpoints import convert
from svc.chat.errors import ChatError
from svc.chat.schemas import Data

Run = TypeVar("Run", bound=Callable[..., Awaitable[object]])
Command = Callable[[Data], Awaitable[object]]

logger = logging.getLogger(__name__)


def command(name: str) -> Callable[[Run], Run]:
    """Declare a method of `Commands` as a command whose arguments are the method's parameters.

    A result of None becomes an empty response. A null argument is treated as absent. If the only parameter is
    `arguments`, it gets all arguments as they were sent, including nulls.
    """

    def declared(run: Run) -> Run:
        types, parameters = get_type_hints(run, include_extras=True), inspect.signature(run).parameters
        fields: list[Any] = [
            (argument, types[argument])
            if taken.default is taken.empty
            else (argument, types[argument], taken.default)
            for argument, taken in parameters.items()
            if argument != "self"
        ]
        takes = None if "arguments" in types else defstruct("Arguments", fields, kw_only=True)
        run.command = name, takes  # type: ignore[attr-defined]
        return run

    return declared


class Commands:
    """A feature's commands."""

    def table(self) -> Mapping[str, Command]:
        methods = [value for value in vars(type(self)).values() if hasattr(value, "command")]
        return {run.command[0]: self._command(run, run.command[1]) for run in methods}

    def _command(self, run: Callable[..., Awaitable[object]], takes: type[Struct] | None) -> Command:
        async def answer(arguments: Data) -> object:
            if takes is None:
                return await run(self, arguments)
            present = {name: value for name, value in arguments.items() if value is not None}
            result = await run(self, **structs.asdict(convert(present, takes)))
            return {} if result is None else result

        return answer


class Control:
    def __init__(self, commands: Iterable[Commands]) -> None:
        self._table = {name: answer for those in commands for name, answer in those.table().items()}

    async def run(self, command: str, arguments: Data) -> Mapping[str, object]:
        """Run a command. Return `{result}`, or `{error, message}`."""
        try:
            if (answer := self._table.get(command)) is None:
                raise ChatError("unknown_event", "Unknown command")
            # Convert the result to the types that the socket sends.
            return {"result": to_builtins(await answer(arguments))}
        except ChatError as refusal:
            return refusal.body()
        except StorageFailed as fault:
            return ChatError("storage_unavailable", fault.reason_for_clients).body()
        except Exception:
            logger.exception("control command failed", extra={"command": command})
            return ChatError("internal_error").body()


# Look up members, roles and channels by id, or by a unique name.


def find_member(directory: Directory, name: str, *, or_gone: bool = False) -> str:
    """Return the id of the member with this id or name. Raises ChatError.

    If `or_gone` is set, an unknown name is returned as the id of a former member.
    """
    namesakes = [member.id for member in directory.members.values() if member.nickname == name]
    return _only("member", name, directory.members, namesakes, name if or_gone else None)


def find_role(directory: Directory, name: str) -> str:
    """Return the id of the role with this id or name. Raises ChatError."""
    return _only("role", name, directory.roles, [r.id for r in directory.roles.values() if r.name == name])


def find_channel(directory: Directory, name: str) -> str:
    """Return the id of the channel with this id or name. Raises ChatError."""
    wanted = name.removeprefix("#").casefold()
    matching_ids = [c.id for c in directory.channels.values() if c.name.casefold() == wanted]
    return _only("channel", name, directory.channels, matching_ids)


def _only(
    kind: str, name: str, ids: Collection[str], matching_ids: list[str], otherwise: str | None = None
) -> str:
    if name in ids:
        return name
    if len(matching_ids) > 1:
        raise ChatError("invalid_request", f"{len(matching_ids)} {kind}s are called {name}. Give the id")
    if not matching_ids and otherwise is None:
        raise ChatError(f"unknown_{kind}")
    return matching_ids[0] if matching_ids else otherwise or ""
