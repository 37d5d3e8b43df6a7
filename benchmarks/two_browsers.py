"""Runs a separate browser for each of two people, so that their CPU time can be measured separately and their
networks can differ.
"""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.kit.browser_users import WIDE, People, bare_chromium, people_at
from tests.kit.svc_up import running_svc_up


@asynccontextmanager
async def two_browsers() -> AsyncIterator[tuple[People, People]]:
    """Run the product, and two browsers with wide windows."""
    executable = bare_chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, executable, viewport=WIDE) as first,
            people_at(product.url, executable, viewport=WIDE) as second,
        ):
            yield first, second
