"""Opens a stopped server: locks its data folder, opens its database, and runs commands under the same rules
as a running server.

Commands for a running server do not load this module, because importing the chat server takes almost a
second.
"""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from svc.base.config_parsing import ConfigError
from svc.base.database import Database
from svc.base.object_store import ObjectStore
from svc.base.object_store_config import FILESYSTEM
from svc.chat.app import open_database
from svc.chat.community import DATABASE_NAME, Community
from svc.chat.config import ChatConfig, read

# Variables for the server's public address, which is used in links, and for its default name and description.
_DESCRIPTION = (
    *("HOST", "PORT", "EXTERNAL_HOST", "SVC_TRUSTED_PROXY_HOPS"),
    *("SERVER_NAME", "SERVER_DESCRIPTION"),
)
# Variables that select the media store. Without these variables, media is stored in the data folder.
_STORAGE = ("STORAGE_BACKEND", "DISABLE_S3")
_STORAGE_PREFIX = "S3_"


async def answer(
    data_dir: Path, command: str, arguments: Mapping[str, object], variables: Mapping[str, str]
) -> Mapping[str, object]:
    """Run a command on a stopped server. Raises ConfigError if it cannot be opened."""
    if not (data_dir / DATABASE_NAME).exists():
        raise ConfigError(f"no server has run in {data_dir}; name another folder with --data-dir")
    config = _config(data_dir, variables)
    async with open_database(config) as database, ClientSession() as session:
        community = Community(config, session, database, secure=False, machine="")
        await community.load()
        return await community.commands.run(command, arguments)


@asynccontextmanager
async def database_of(
    data_dir: Path, variables: Mapping[str, str]
) -> AsyncIterator[tuple[Database, ObjectStore]]:
    """Open a stopped server's database and object store, creating them if they do not exist."""
    config = _config(data_dir, variables)
    async with open_database(config) as database:
        yield database, config.uploads.storage.open_store(data_dir)


def _config(data_dir: Path, variables: Mapping[str, str]) -> ChatConfig:
    # Nobody signs in to a stopped server, so the secret and the identity tier do not matter.
    return read(
        {
            "STORAGE_BACKEND": FILESYSTEM,
            **storage_of(variables),
            **{name: variables[name] for name in _DESCRIPTION if name in variables},
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
