"""`svc admin`: the operator's way to a server, whether it runs or not.

A running server is asked over its control socket. When none runs, the data folder is taken
and its file opened here, with the same rules. Prints people's text, or with `--json` one
line. Design: contract 2 of section 4.
"""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from aiohttp import ClientSession

from svc.base.config import ConfigError
from svc.base.control_socket import ControlFailed, NobodyThere, ask
from svc.chat.community import DATABASE_NAME, Community, opened
from svc.chat.config import read


def run(data_dir: Path, command: str, arguments: Mapping[str, object], *, as_json: bool) -> None:
    """Raises ConfigError for everything that keeps it from being done."""
    answer = asyncio.run(_answer(data_dir, command, arguments))
    if "error" in answer:
        raise ConfigError(str(answer.get("message", answer["error"])))
    _show(answer["result"], as_json=as_json)


def arguments_of(options: argparse.Namespace) -> tuple[str, dict[str, object]]:
    """The control socket's command for a command line, and its arguments."""
    match options.admin_command, options.admin_action:
        case "settings", "set":
            spelt = {"true": True, "false": False}
            return "settings_set", {options.name: spelt.get(options.value, options.value)}
        case "invite", "create":
            lifetime_s = None if options.hours is None else options.hours * 3600
            return "invite_create", {
                "role_id": options.role,
                "max_uses": options.uses,
                "lifetime_s": lifetime_s,
            }
        case "invite", "revoke":
            return "invite_revoke", {"invite_id": options.invite_id}
        case what, action:
            return f"{what}_{action}", {}


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


def _show(result: object, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, ensure_ascii=False, separators=(",", ":")))
        return
    match result:
        case {"members": list(members)}:
            for member in members:
                print(f"{member['id']}  {member['nickname']}  {', '.join(member['roles'])}")
        case {"code": str(code)}:
            print(code)
        case dict():
            for name, value in result.items():
                print(f"{name}  {json.dumps(value, ensure_ascii=False)}")
    sys.stdout.flush()
