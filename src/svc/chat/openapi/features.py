"""What every feature says of itself, found in its `requests`. Knows no feature by name."""

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
        folder: import_module(f"svc.chat.{folder}.requests").DESCRIBED
        for folder in folders
        if find_spec(f"svc.chat.{folder}.requests") is not None
    }
