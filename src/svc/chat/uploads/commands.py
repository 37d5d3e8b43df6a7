"""What the media worker and the operator ask over the control socket about jobs.

Reads the arguments, and answers; what a job is and whose it is, `queue` knows.
"""

import re
from collections.abc import Awaitable, Callable, Mapping

from svc.chat.control.commands import Command
from svc.chat.errors import ChatError
from svc.chat.fields import Data, identifier, number, strings, text
from svc.chat.uploads.incoming import Incoming
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.upload import KINDS, ORIGINAL, ROLES, Written

_MAX_WORKER_CHARACTERS = 128
_MAX_FAULT_CHARACTERS = 1_000
_MAX_TYPE_CHARACTERS = 64
_MAX_FACT_CHARACTERS = 256
_LARGEST = 2**53
_EXTENSION = re.compile("[a-z0-9]{1,8}")


class JobCommands:
    """`claimed` is told the name of every worker that asks for work."""

    def __init__(self, queue: Queue, incoming: Incoming, claimed: Callable[[str], None]) -> None:
        self._queue = queue
        self._incoming = incoming
        self._claimed = claimed

    def table(self) -> Mapping[str, Command]:
        commands: dict[str, Callable[[Data], Awaitable[object]]] = {
            "job_claim": self.claim,
            "job_renew": self.renew,
            "job_reserve": self.reserve,
            "job_finish": self.finish,
            "job_refuse": self.refuse,
            "job_fail": self.fail,
            "job_hand_on": self.hand_on,
            "job_list": self.list,
            "job_retry": self.retry,
        }
        return commands

    async def claim(self, arguments: Data) -> object:
        worker = text(arguments, "worker", most=_MAX_WORKER_CHARACTERS, least=1)
        self._claimed(worker)
        kinds = strings(arguments, "kinds", most=len(KINDS))
        job = await self._queue.claim(worker, kinds, long=arguments.get("long") is True)
        if job is None:
            return {"job": None}
        return {"job": {**job, "source": self._incoming.source(str(job["id"]))}}

    async def renew(self, arguments: Data) -> object:
        progress = arguments.get("progress", 0)
        if isinstance(progress, bool) or not isinstance(progress, int | float) or not 0 <= progress <= 1:
            raise ChatError("invalid_request", "progress must be from 0 to 1")
        await self._queue.renew(*_which(arguments), float(progress))
        return {}

    async def reserve(self, arguments: Data) -> object:
        ext = text(arguments, "ext", most=8, least=1)
        if not _EXTENSION.fullmatch(ext):
            raise ChatError("invalid_request", "ext must be one to eight lowercase letters and digits")
        return {"key": await self._queue.reserve(*_which(arguments), ext)}

    async def finish(self, arguments: Data) -> object:
        results = arguments.get("results")
        if not isinstance(results, list) or not 1 <= len(results) <= len(ROLES):
            raise ChatError("invalid_request", "results must be a list of what was written")
        written = [_written(result) for result in results]
        roles = [file.role for file in written]
        if ORIGINAL not in roles or len(set(roles)) != len(roles):
            raise ChatError("invalid_request", "results must have one original, and each role once")
        await self._queue.finish(*_which(arguments), written)
        return {}

    async def refuse(self, arguments: Data) -> object:
        code = text(arguments, "code", most=_MAX_TYPE_CHARACTERS, least=1)
        message = text(arguments, "message", most=_MAX_FAULT_CHARACTERS)
        await self._queue.refuse(*_which(arguments), code, message)
        return {}

    async def fail(self, arguments: Data) -> object:
        message = text(arguments, "message", most=_MAX_FAULT_CHARACTERS)
        await self._queue.fail(*_which(arguments), message)
        return {}

    async def hand_on(self, arguments: Data) -> object:
        await self._queue.hand_on(*_which(arguments))
        return {}

    async def list(self, arguments: Data) -> object:
        return await self._queue.all()

    async def retry(self, arguments: Data) -> object:
        await self._queue.retry(identifier(arguments, "job"))
        return {}


def _which(arguments: Data) -> tuple[str, str]:
    return identifier(arguments, "job"), identifier(arguments, "lease")


def _written(result: object) -> Written:
    if not isinstance(result, dict):
        raise ChatError("invalid_request", "A result must be an object")
    role = text(result, "role", most=16)
    if role not in ROLES:
        raise ChatError("invalid_request", f"role must be one of {', '.join(ROLES)}")
    return Written(
        role=role,
        key=identifier(result, "key"),
        content_type=text(result, "content_type", most=_MAX_TYPE_CHARACTERS, least=1),
        bytes=number(result, "bytes", least=0, most=_LARGEST),
        width=_optional(result, "width"),
        height=_optional(result, "height"),
        frames=_optional(result, "frames"),
        duration_ms=_optional(result, "duration_ms"),
        placeholder=_text_or_nothing(result, "placeholder"),
        colour=_text_or_nothing(result, "colour"),
    )


def _optional(result: Data, name: str) -> int | None:
    return None if result.get(name) is None else number(result, name, least=0, most=_LARGEST)


def _text_or_nothing(result: Data, name: str) -> str:
    return "" if result.get(name) is None else text(result, name, most=_MAX_FACT_CHARACTERS)
