"""Prepares the web client's files once for all chat servers that a test process starts or forks.

tests/chat/pages tests the preparation itself, with its own folders.
"""

from functools import cache

from svc.chat.pages import routes

_FOLDER = routes.WEB_FOLDER.resolve()
_load_cache = routes._load_cache


@cache
def prepared() -> routes._CachedFiles:
    """Return the prepared files. Checking and decoding them takes a quarter of a server's startup time."""
    return _load_cache(_FOLDER)


def reuse() -> None:
    """Make all servers that this process or its forks start later share the prepared files. Idempotent."""
    routes._load_cache = lambda folder, data_dir=None: (
        prepared() if folder == _FOLDER else _load_cache(folder, data_dir)
    )
