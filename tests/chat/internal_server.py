"""Provides a chat server with accessible internals, for tests that must change its state directly."""

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from unittest.mock import patch

from svc.chat import app
from svc.chat.community import Community
from tests.chat.chat_server import ChatServer, chat_server


@asynccontextmanager
async def server_with_insight(variables: Mapping[str, str]) -> AsyncIterator[tuple[ChatServer, Community]]:
    """Run a server. Yield the server and its community."""
    built: list[Community] = []

    class Seen(Community):
        def __init__(self, *arguments: object, **kwargs: object) -> None:
            super().__init__(*arguments, **kwargs)  # type: ignore[arg-type]
            built.append(self)

        async def load(self) -> None:
            await super().load()
            # Tests change the directory outside an exclusive write.
            self.directory.may_change = lambda: True

    with patch.object(app, "Community", Seen):
        async with chat_server(variables) as chat:
            yield chat, built[0]


def give_role(community: Community, member_id: str, *role_ids: str) -> None:
    """Set a member's roles while the server is running."""
    member = community.directory.members[member_id]
    community.directory.put_member(dataclasses.replace(member, role_ids=role_ids))
