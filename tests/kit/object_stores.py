"""The object stores that tests run on: a folder, and S3 servers that others have written, started here.

`rclone serve s3` and moto's server, each on a loopback port of the kernel's choice, with an
empty bucket. Where one is not installed its tests are skipped and say so.
"""

import asyncio
import contextlib
import secrets
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.base.objects import FileObjects, ObjectStore
from svc.base.objects_s3 import S3Address, S3Objects

FOLDER = "folder"
BUCKET = "media"
START_DEADLINE_S = 30.0


def stores() -> list[str]:
    return [FOLDER]


@contextlib.asynccontextmanager
async def object_store(kind: str, folder: Path) -> AsyncIterator[ObjectStore]:
    """An empty store of a kind."""
    yield FileObjects(folder / "objects")
