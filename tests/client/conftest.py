"""A chat server with members, as in the tests of the chat server."""

from tests.chat.conftest import chat, folk, hurried, sfu, variables

__all__ = ["chat", "folk", "hurried", "sfu", "variables"]
