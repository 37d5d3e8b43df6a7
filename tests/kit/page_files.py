"""The page's files, prepared once for all chat servers that a process of tests starts or forks.

Does not replace the preparation: tests/chat/pages tests it with folders of its own.
"""

from functools import cache

from svc.chat.pages import routes

_FOLDER = routes.WEB_FOLDER.resolve()
_kept = routes._kept


@cache
def prepared() -> routes._Prepared:
    """Return the files. Checking and decoding them takes a quarter of a server's start."""
    return _kept(_FOLDER)


def reuse() -> None:
    """Let every later server of this process and of its forks share the prepared files. Idempotent."""
    routes._kept = lambda folder: prepared() if folder == _FOLDER else _kept(folder)
