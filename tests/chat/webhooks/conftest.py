"""Provides a webhook that posts to #general and a member who reads the channel."""

from collections.abc import AsyncIterator

import pytest

from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook, hook_of


@pytest.fixture
async def hook(members: MembersByRole) -> AsyncIterator[Hook]:
    async with hook_of(members.owner) as made:
        yield made
