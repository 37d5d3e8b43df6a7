"""A server that does not run: its data folder taken, its file opened, commands answered by the same rules.

All of the chat server is imported here, which takes most of a second; whoever can ask a running one does
not need it.
"""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from svc.base.config import ConfigError
from svc.base.database import Database
from svc.base.objects import ObjectStore
from svc.base.storage import FILESYSTEM
from svc.chat.app import opened
from svc.chat.community import DATABASE_NAME, Community
from svc.chat.config import ChatConfig, read

# What of the environment tells where people open the server, for the links that are printed, and what it is
# called unless the owner has set something else.
_SAID = (
    *("HOST", "PORT", "EXTERNAL_HOST", "SVC_TRUSTED_PROXY_HOPS"),
    *("SERVER_NAME", "SERVER_DESCRIPTION"),
)
# What of the environment tells where media is. Without any of them it is looked for in the folder.
_STORAGE = ("STORAGE_BACKEND", "DISABLE_S3")
_STORAGE_PREFIX = "S3_"


async def answer(
    data_dir: Path, command: str, arguments: Mapping[str, object], variables: Mapping[str, str]
) -> Mapping[str, object]:
    """Raises ConfigError where it cannot be opened."""
    if not (data_dir / DATABASE_NAME).exists():
        raise ConfigError(f"no server has run in {data_dir}; name another folder with --data-dir")
    config = _config(data_dir, variables)
    async with opened(config) as database, ClientSession() as session:
        community = Community(config, session, database, secure=False, machine="")
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
            **{name: variables[name] for name in _SAID if name in variables},
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
