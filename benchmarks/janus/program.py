"""Runs the program `janus`, with only its video room plugin, while a benchmark needs it.

The configuration is written to a temporary folder. All other settings have Janus's defaults. Messages use
loopback. Media uses one of the machine's addresses, because Janus excludes loopback from ICE. This module
creates no rooms. https://janus.conf.meetecho.com/docs/deploy.html
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import peers
from svc.tools.bench.errors import BenchError
from svc.tools.cluster_demo import free_ports

# The only module of each kind to load. Janus would load every module in a folder.
_MODULES = {"plugins": "libjanus_videoroom.so", "transports": "libjanus_websockets.so"}

# Turn off the session timeout, so that Janus needs no keep-alive every minute.
_CORE = """
general: {{
    configs_folder = "{folder}"
    plugins_folder = "{folder}/plugins"
    transports_folder = "{folder}/transports"
    events_folder = "{folder}/events"
    loggers_folder = "{folder}/loggers"
    debug_level = 0
    session_timeout = 0
}}
"""
_WEBSOCKETS = """
general: {{
    ws = true
    ws_ip = "127.0.0.1"
    ws_port = {port}
    wss = false
}}
"""


def where_it_is() -> str | None:
    """Return the program's path, or None."""
    return shutil.which("janus")


@asynccontextmanager
async def program() -> AsyncIterator[tuple[str, int]]:
    """Run Janus. Yield its WebSocket URL and its process id. Raises BenchError."""
    path = where_it_is()
    if path is None:
        raise BenchError("Janus is not installed")
    (port,) = free_ports(1)
    with TemporaryDirectory(prefix="janus-") as name:
        folder = Path(name)
        _configure(folder, Path(path), port)
        words = [path, f"--configs-folder={folder}", f"--config={folder}/janus.jcfg"]
        async with peers.program(words, port) as pid:
            yield f"ws://127.0.0.1:{port}", pid


def _configure(folder: Path, path: Path, port: int) -> None:
    for kind, name in _MODULES.items():
        (folder / kind).mkdir()
        (folder / kind / name).symlink_to(_module(path, kind, name))
    (folder / "events").mkdir()
    (folder / "loggers").mkdir()
    (folder / "janus.jcfg").write_text(_CORE.format(folder=folder))
    (folder / "janus.transport.websockets.jcfg").write_text(_WEBSOCKETS.format(port=port))


def _module(path: Path, kind: str, name: str) -> Path:
    """Find a module in the lib folder next to the program's bin folder, or in the lib folder's subfolder for
    the architecture.
    """
    lib = path.resolve().parent.parent / "lib"
    for folder in ("janus", "*/janus"):
        for module in lib.glob(f"{folder}/{kind}/{name}"):
            return module
    raise BenchError(f"{path} has no {name} in {lib}")
