"""Members who upload, and a media worker of the tests' own that does as it is told."""

from collections.abc import AsyncIterator

import pytest

from tests.chat.inside import server_with_insight
from tests.chat.people import People, people
from tests.chat.uploads.working import Place


@pytest.fixture
async def place(variables: dict[str, str]) -> AsyncIterator[Place]:
    """A server with its folk, seen from outside and from inside."""
    async with server_with_insight(variables) as (chat, community):
        folk: People = await people(chat)
        yield Place(chat, community, folk, variables)
