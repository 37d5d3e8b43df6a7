"""Clients who leave before they are answered, as often as they like, write nothing to the log."""

import asyncio
import logging
import re

import pytest

from svc.tools.bench.attack.target import Target
from tests.chat.member import ChatServer
from tests.kit.waiting import wait_until

TIMES = 50
_COUNTED = re.compile(r"svc_chat_http_requests_total\{[^}]*GET /api/me/export[^}]*\} (\d+)")


async def counted(chat: ChatServer) -> int:
    return sum(int(times) for times in _COUNTED.findall(await chat.metrics()))


async def test_a_request_whose_client_has_gone_is_counted_and_not_logged_as_a_fault(
    chat: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    token = await chat.join("Ada")
    host, port = chat.address.removeprefix("http://").split(":")
    with caplog.at_level(logging.INFO):
        for _ in range(TIMES):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(Target(chat.address).request("GET", "/api/me/export", token=token))
            writer.close()

        async def all_are_counted() -> bool:
            return await counted(chat) == TIMES

        await wait_until("every request is counted", all_are_counted, within_s=20)
    faults = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in faults] == []
