"""Provides a chat server with members, as in the chat server's own tests."""

from tests.chat.conftest import chat, members, request_limits, sfu, variables

__all__ = ["chat", "members", "request_limits", "sfu", "variables"]
