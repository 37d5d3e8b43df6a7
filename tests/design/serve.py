"""Serves a page that shows every component in every state.

Run `python -m tests.design.serve` and open the URL that it prints. Restart the command after changing the web
client's files.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from svc.chat.pages.routes import WEB_FOLDER, Pages

HERE = Path(__file__).parent


async def page(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(HERE / "index.html")


@asynccontextmanager
async def design_page() -> AsyncIterator[str]:
    """Serve the page on a port that the kernel chooses. Yield its URL."""
    app = web.Application()
    app.add_routes([*Pages(WEB_FOLDER).table(), web.get("/design", page), web.static("/design", HERE)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/design"
    finally:
        await runner.cleanup()


async def main() -> None:
    async with design_page() as address:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
