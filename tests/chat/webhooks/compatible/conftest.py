"""A webhook, and the owner who created it."""

from collections.abc import AsyncIterator

import pytest

from tests.chat.chat_server import ChatServer
from tests.chat.people import Person, newcomer
from tests.chat.webhooks.webhook_client import Hook, hook_of


@pytest.fixture
async def owner(chat: ChatServer) -> Person:
    return await newcomer(chat, "Owner")


@pytest.fixture
async def hook(owner: Person) -> AsyncIterator[Hook]:
    async with hook_of(owner) as made:
        yield made
