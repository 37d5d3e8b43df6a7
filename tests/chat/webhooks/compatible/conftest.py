"""Provides a webhook and the owner who created it."""

from collections.abc import AsyncIterator

import pytest

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.webhooks.webhook_client import Hook, hook_of


@pytest.fixture
async def owner(chat: ChatServer) -> HttpMember:
    return await newcomer(chat, "Owner")


@pytest.fixture
async def hook(owner: HttpMember) -> AsyncIterator[Hook]:
    async with hook_of(owner) as made:
        yield made
