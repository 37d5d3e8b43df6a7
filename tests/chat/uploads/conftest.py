"""Provides a server with members who upload files and a media worker that tests control."""

from collections.abc import AsyncIterator

import pytest

from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.chat.uploads.upload_helpers import UploadServer


@pytest.fixture
async def server(variables: dict[str, str]) -> AsyncIterator[UploadServer]:
    """Yield a server with members and access to its internals."""
    async with server_with_insight(variables) as (chat, community):
        members: MembersByRole = await members_by_role(chat)
        yield UploadServer(chat, community, members, variables)
