"""Provides the chat server fixtures to the attack tests."""

from tests.chat.conftest import chat, copied_databases, database, members, request_limits, sfu, variables
from tests.chat.uploads.conftest import server

__all__ = ["chat", "copied_databases", "database", "members", "request_limits", "server", "sfu", "variables"]
