"""A stand-in for the server's queue. It hands out jobs over a real control socket and records the worker's
requests.

It simulates a server that refuses requests, forgets jobs or disappears.
`tests/worker/test_with_chat_server.py` tests the worker with the real server.
"""

import itertools
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from svc.base.control_socket import listening
from svc.chat.uploads.job_signal import JobSignal
from svc.worker.app import WORKING_FOLDER
from svc.worker.config import WorkerConfig, read
from tests.kit.wait import eventually

DEADLINE_S = 30.0
Json = Mapping[str, object]


class FakeQueue:
    """A stand-in for the server's queue.

    `answers` may replace the response to a command. Without a `signal`, the worker has to poll.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.waiting: deque[dict[str, object]] = deque()
        self.reports: list[tuple[str, Mapping[str, object]]] = []
        self.answers: dict[str, Callable[[Mapping[str, object]], Json | None]] = {}
        self.signal: JobSignal | None = None
        # the number of times that each command has arrived
        self.commands: Counter[str] = Counter()
        self.most_in_hand = self._in_hand = 0
        self._numbers = itertools.count(1)

    def put(self, kind: str, data: bytes, **limits: object) -> str:
        """Add a job. Return its id."""
        number = next(self._numbers)
        path = self.data_dir / "incoming" / f"u{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        source = str(path.relative_to(self.data_dir))
        job = {"id": f"u{number}", "lease": f"l{number}", "kind": kind, "long": False, "source": source}
        self.waiting.append({**job, "attempt": 1, "limits": limits})
        return f"u{number}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with listening(self.data_dir, self._answer):
            yield

    async def _answer(self, command: str, arguments: Mapping[str, object]) -> Json:
        self.commands[command] += 1
        if (special := self.answers.get(command)) is not None and (
            reported := special(arguments)
        ) is not None:
            return reported
        match command:
            case "job_wait" if self.signal is not None:
                return {"result": {"seen": await self.signal.wait(int(str(arguments["seen"])))}}
            case "job_wait":
                return {"error": "unknown_event", "message": ""}
            case "job_claim":
                kinds, long = arguments["kinds"], arguments["long"]
                assert isinstance(kinds, list)
                job = next((j for j in self.waiting if (j["kind"] in kinds, j["long"]) == (True, long)), None)
                if job is not None:
                    self.waiting.remove(job)
                    self._in_hand += 1
                    self.most_in_hand = max(self.most_in_hand, self._in_hand)
                return {"result": {"job": job}}
            case "job_reserve":
                self.reports.append((command, arguments))
                return {"result": {"key": f"uploads/{next(self._numbers)}.{arguments['ext']}"}}
        self.reports.append((command, arguments))
        if command in ("job_finish", "job_refuse", "job_fail"):
            self._in_hand -= 1
        return {"result": {}}

    def reported(self, command: str) -> list[Mapping[str, object]]:
        return [arguments for reported, arguments in self.reports if reported == command]

    def ended(self, command: str) -> list[str]:
        """Return the ids of the jobs that were reported with this command."""
        return [str(arguments["job"]) for arguments in self.reported(command)]

    async def only(self, command: str) -> Mapping[str, object]:
        """Wait until a command is reported. Return its arguments."""
        await eventually(f"{command} is reported", lambda: self.reported(command), within_s=DEADLINE_S)
        return self.reported(command)[0]

    @property
    def config(self) -> WorkerConfig:
        return read(
            {
                "DATA_DIR": str(self.data_dir),
                "STORAGE_BACKEND": "filesystem",
                "S3_BUCKET": "store",
                "EMOJI_QUEUE_POLL_MS": "250",
            }
        )

    def stored(self, result: Mapping[str, object]) -> bytes:
        return (self.data_dir / "store" / str(result["key"])).read_bytes()

    def left_behind(self) -> list[str]:
        return [path.name for path in (self.data_dir / WORKING_FOLDER).iterdir()]
