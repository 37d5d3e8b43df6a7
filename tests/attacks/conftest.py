"""The fixtures of the chat server, for attacks on it."""

from tests.chat.conftest import chat, database, folk, hurried, sfu, variables

__all__ = ["chat", "database", "folk", "hurried", "sfu", "variables"]
