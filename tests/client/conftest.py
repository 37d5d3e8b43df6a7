"""A chat server with people on it, as the tests of the chat server have it."""

from tests.chat.conftest import chat, folk, hurried, sfu, variables

__all__ = ["chat", "folk", "hurried", "sfu", "variables"]
