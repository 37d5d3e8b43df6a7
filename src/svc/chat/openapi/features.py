"""What every feature says of itself, found in its `requests` or `described`. Knows no feature by name."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import svc.chat
from svc.chat.described import Described


@cache
def described() -> Mapping[str, Described]:
    """By the name of the feature's folder."""
    folders = sorted(module.name for module in pkgutil.iter_modules(svc.chat.__path__) if module.ispkg)
    return {
        folder: import_module(name).DESCRIBED
        for folder in folders
        for name in (f"svc.chat.{folder}.requests", f"svc.chat.{folder}.described")
        if find_spec(name) is not None
    }
