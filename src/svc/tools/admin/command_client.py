"""Runs a command of `svc admin` on a running or stopped server.

A running server receives the command over its control socket. A stopped server is opened (`stopped_server`).
This module does not define the commands, and prints nothing.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from svc.base.config_parsing import ConfigError
from svc.base.control_socket import ControlFailed, NotRunning, ask
from svc.base.progress import Listener, reports_to


def answer_to(
    data_dir: Path,
    command: str,
    arguments: Mapping[str, object],
    variables: Mapping[str, str],
    on_progress: Listener = lambda progress: None,
) -> object:
    """Run a command and return its result. Raises ConfigError if the command cannot be run."""
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
    except NotRunning:
        from svc.tools.admin.stopped_server import answer

        with reports_to(on_progress):
            return await answer(data_dir, command, arguments, variables)
