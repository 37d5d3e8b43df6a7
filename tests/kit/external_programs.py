"""Finds the third-party programs that `ci/setup` installs or unpacks for tests."""

import shutil
from pathlib import Path

import pytest

_UNPACKED = Path(__file__).parents[2] / "build" / "unpacked" / "usr"


def program(name: str) -> str | None:
    """Return the program's path, or None if it is not installed."""
    for folder in (None, _UNPACKED / "bin", _UNPACKED / "sbin"):
        if path := shutil.which(name, path=folder and str(folder)):
            return path
    return None


def required(name: str) -> str:
    """Return the program's path. Skip the test if it is not installed."""
    if (path := program(name)) is None:
        pytest.skip(f"{name} is not installed (ci/setup installs it)")
    return path
