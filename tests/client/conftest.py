"""Provides a chat server with members, as in the chat server's own tests."""

from tests.chat.conftest import chat, folk, hurried, sfu, variables

__all__ = ["chat", "folk", "hurried", "sfu", "variables"]
