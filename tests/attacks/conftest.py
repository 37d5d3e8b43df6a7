"""The chat server's fixtures, for the tests that attack it."""

from tests.chat.conftest import chat, database, folk, hurried, sfu, variables

__all__ = ["chat", "database", "folk", "hurried", "sfu", "variables"]
