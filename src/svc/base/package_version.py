"""Reads the version of the installed package once.

Reading it parses the package's whole metadata. `svc --version` reads it without this cache.
"""

from functools import cache
from importlib.metadata import version


@cache
def package_version() -> str:
    """Return the version that is installed."""
    return version("svc-server")
