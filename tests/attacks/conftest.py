"""The fixtures of the chat server's tests, for tests that attack it."""

from tests.chat.conftest import chat, copied_databases, database, folk, hurried, sfu, variables

__all__ = ["chat", "copied_databases", "database", "folk", "hurried", "sfu", "variables"]
