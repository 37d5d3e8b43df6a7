"""The chat server's fixtures, for the tests that attack it."""

from tests.chat.conftest import chat, copied_databases, database, folk, hurried, sfu, variables

__all__ = ["chat", "copied_databases", "database", "folk", "hurried", "sfu", "variables"]
