"""How a command of `svc admin` reaches a server, whether it runs or not.

A running server is asked over its control socket. When none runs, the data folder is taken
and its file opened here, with the same rules. Knows no command, and prints nothing.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from svc.base.config import ConfigError
from svc.base.control_socket import ControlFailed, NobodyThere, ask
from svc.base.database import Database
from svc.base.objects import ObjectStore
from svc.base.progress import Listener, heard_by
from svc.base.storage import FILESYSTEM
from svc.chat.community import DATABASE_NAME, Community, opened
from svc.chat.config import ChatConfig, read

# What of the environment tells where media is. Without any of them it is looked for in the folder.
_STORAGE = ("STORAGE_BACKEND", "DISABLE_S3")
_STORAGE_PREFIX = "S3_"


def answer_to(
    data_dir: Path,
    command: str,
    arguments: Mapping[str, object],
    variables: Mapping[str, str],
    on_progress: Listener = lambda progress: None,
) -> object:
    """Raises ConfigError for everything that keeps it from being done."""
    answer = asyncio.run(_answer(data_dir, command, arguments, variables, on_progress))
    if "error" in answer:
        raise ConfigError(str(answer.get("message", answer["error"])))
    return answer["result"]


async def _answer(
    data_dir: Path,
    command: str,
    arguments: Mapping[str, object],
    variables: Mapping[str, str],
    on_progress: Listener,
) -> Mapping[str, object]:
    try:
        return await ask(data_dir, command, arguments, on_progress)
    except ControlFailed as fault:
        raise ConfigError(str(fault)) from None
    except NobodyThere:
        with heard_by(on_progress):
            return await _answer_ourselves(data_dir, command, arguments, variables)


async def _answer_ourselves(
    data_dir: Path, command: str, arguments: Mapping[str, object], variables: Mapping[str, str]
) -> Mapping[str, object]:
    if not (data_dir / DATABASE_NAME).exists():
        raise ConfigError(f"no server has run in {data_dir}; --data-dir says where one has")
    config = _config(data_dir, variables)
    async with opened(config) as database, ClientSession() as session:
        community = Community(config, session, database)
        await community.load()
        return await community.commands.run(command, arguments)


@asynccontextmanager
async def database_of(
    data_dir: Path, variables: Mapping[str, str]
) -> AsyncIterator[tuple[Database, ObjectStore]]:
    """Database and object store of a server that does not run; made where there are none yet."""
    config = _config(data_dir, variables)
    async with opened(config) as database:
        yield database, config.uploads.storage.opened(data_dir)


def _config(data_dir: Path, variables: Mapping[str, str]) -> ChatConfig:
    # Nobody signs in here: neither the secret nor who could is of any consequence.
    return read(
        {
            "STORAGE_BACKEND": FILESYSTEM,
            **storage_of(variables),
            "DATA_DIR": str(data_dir),
            "JWT_SECRET": secrets.token_urlsafe(32),
            "SVC_IDENTITY_TIERS": "local",
        }
    )


def storage_of(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if value and (name in _STORAGE or name.startswith(_STORAGE_PREFIX))
    }
