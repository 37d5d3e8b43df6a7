"""How a command of `svc admin` reaches a server, whether it runs or not.

A running server is asked over its control socket. When none runs, the data folder is taken
and its file opened here, with the same rules. Knows no command, and prints nothing.
"""

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path

from aiohttp import ClientSession

from svc.base.config import ConfigError
from svc.base.control_socket import ControlFailed, NobodyThere, ask
from svc.chat.community import DATABASE_NAME, Community, opened
from svc.chat.config import read


def answer_to(data_dir: Path, command: str, arguments: Mapping[str, object]) -> object:
    """Raises ConfigError for everything that keeps it from being done."""
    answer = asyncio.run(_answer(data_dir, command, arguments))
    if "error" in answer:
        raise ConfigError(str(answer.get("message", answer["error"])))
    return answer["result"]


async def _answer(data_dir: Path, command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    try:
        return await ask(data_dir, command, arguments)
    except ControlFailed as fault:
        raise ConfigError(str(fault)) from None
    except NobodyThere:
        return await _answer_ourselves(data_dir, command, arguments)


async def _answer_ourselves(
    data_dir: Path, command: str, arguments: Mapping[str, object]
) -> Mapping[str, object]:
    if not (data_dir / DATABASE_NAME).exists():
        raise ConfigError(f"no server has run in {data_dir}; --data-dir says where one has")
    # Nobody signs in here: neither the secret nor who could is of any consequence.
    config = read(
        {
            "DATA_DIR": str(data_dir),
            "JWT_SECRET": secrets.token_urlsafe(32),
            "SVC_IDENTITY_TIERS": "local",
        }
    )
    async with opened(config) as database, ClientSession() as session:
        community = Community(config, session, database)
        await community.load()
        return await community.commands.run(command, arguments)
