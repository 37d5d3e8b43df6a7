"""Provides object stores for tests: a folder, and third-party S3 servers that this module starts.

The servers are `rclone serve s3`, which checks signatures, and moto's server. Each has an empty bucket and a
loopback port chosen by the kernel.
"""

import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from svc.base.object_store import FileObjects, ObjectStore
from svc.base.object_store_s3 import S3Address, S3Objects

FOLDER, RCLONE, MOTO = "folder", "rclone", "moto"
STORES = (FOLDER, RCLONE, MOTO)
BUCKET = "media"
_KEY, _SECRET = "access-key", "a secret of some length"
_START_DEADLINE_S = 60.0
_STOP_DEADLINE_S = 10.0
_ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)")


@dataclass
class Stores:
    """The running stores. Each is started on first use."""

    folder: Path
    _running: dict[str, str] = field(default_factory=dict)
    _closing: ExitStack = field(default_factory=ExitStack)

    def variables(self, kind: str) -> dict[str, str]:
        """Return the environment variables for a server that uses this store."""
        if kind == FOLDER:
            return {"STORAGE_BACKEND": "filesystem"}
        return {
            "STORAGE_BACKEND": "s3",
            "S3_ENDPOINT": self._endpoint(kind),
            "S3_BUCKET": BUCKET,
            "S3_REGION": "us-east-1",
            "S3_ACCESS_KEY_ID": _KEY,
            "S3_SECRET_ACCESS_KEY": _SECRET,
            "S3_FORCE_PATH_STYLE": "true",
        }

    def store(self, kind: str, folder: Path) -> ObjectStore:
        """Return a store of the given kind, possibly shared with other tests. Only the kind FOLDER uses
        `folder`.
        """
        if kind == FOLDER:
            return FileObjects(folder / "objects")
        return S3Objects(self.address(kind))

    def address(self, kind: str, secret: str = _SECRET) -> S3Address:
        return S3Address(BUCKET, self._endpoint(kind), "", _KEY, secret, force_path_style=True)

    def close(self) -> None:
        self._closing.close()

    def _endpoint(self, kind: str) -> str:
        if kind not in self._running:
            start = {RCLONE: _rclone, MOTO: _moto}[kind]
            self._running[kind] = self._closing.enter_context(start(self.folder / kind))
        return self._running[kind]


@contextmanager
def _rclone(folder: Path) -> Iterator[str]:
    (folder / BUCKET).mkdir(parents=True)
    program = Path(sys.executable).with_name("rclone")
    command = [str(program), "serve", "s3", "--addr", "127.0.0.1:0", "--auth-key", f"{_KEY},{_SECRET}"]
    with _started([*command, "--config", os.devnull, str(folder)]) as address:
        yield address


@contextmanager
def _moto(folder: Path) -> Iterator[str]:
    with _started([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]) as address:
        request = urllib.request.Request(f"{address}/{BUCKET}", method="PUT")
        with urllib.request.urlopen(request, timeout=_START_DEADLINE_S):
            yield address


@contextmanager
def _started(command: list[str]) -> Iterator[str]:
    """Run a server and yield the URL that it prints."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    lines: SimpleQueue[str] = SimpleQueue()
    reader = threading.Thread(target=_watch, args=(process, lines), daemon=True)
    reader.start()
    try:
        try:
            address = lines.get(timeout=_START_DEADLINE_S)
        except Empty:
            raise AssertionError(f"{command[0]} did not report its address") from None
        yield address
    finally:
        process.terminate()
        try:
            process.wait(_STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(_STOP_DEADLINE_S)


def _watch(process: "subprocess.Popen[str]", lines: "SimpleQueue[str]") -> None:
    """Read the server's output to the end, so that it never blocks."""
    assert process.stderr is not None, "stderr is a pipe"
    with process.stderr as log:
        for line in log:
            if address := _ADDRESS.search(line):
                lines.put(address[1])
