"""Imports aioice's STUN codec (RFC 8489) without the rest of aioice, whose DNS library uses 4 MB.

Does not contain any SFU logic.
"""

import importlib.util
import sys


def _import_alone(package: str, module: str) -> None:
    """Import a module without running its package's own code. A later import of the package runs that
    code.
    """
    spec = importlib.util.find_spec(package)
    if package in sys.modules or spec is None:
        return
    sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        importlib.import_module(f"{package}.{module}")
    finally:
        del sys.modules[package]


_import_alone("aioice", "stun")

from aioice.stun import Class, Message, Method, parse_message  # noqa: E402

__all__ = ["Class", "Message", "Method", "parse_message"]
