"""The web client: `GET /` and `GET /web/…`, files as they lie in the package.

Serves plain files only, never a listing. Sets no headers that all answers carry; the
application does.
"""

from pathlib import Path

from aiohttp import web

from svc.chat.errors import ChatError

# The system's own table differs from machine to machine, and a module that comes as
# text/plain does not run.
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wav": "audio/wav",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


class Pages:
    """`folder` holds index.html and what it refers to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def table(self) -> list[web.RouteDef]:
        return [web.get("/", self.index), web.get("/web/{path:.+}", self.file)]

    async def index(self, request: web.Request) -> web.FileResponse:
        return self._answer("index.html")

    async def file(self, request: web.Request) -> web.FileResponse:
        return self._answer(request.match_info["path"])

    def _answer(self, name: str) -> web.FileResponse:
        path = self._path(name)
        # There is no build step that would put a version into the names, so browsers
        # ask each time whether theirs is still the one.
        headers = {"Content-Type": _CONTENT_TYPES[path.suffix], "Cache-Control": "no-cache"}
        return web.FileResponse(path, headers=headers)

    def _path(self, name: str) -> Path:
        try:
            path = (self._folder / name).resolve()
            if path.is_relative_to(self._folder) and path.suffix in _CONTENT_TYPES and path.is_file():
                return path
        except (OSError, ValueError):
            # A name with a NUL, or longer than any file's.
            pass
        raise ChatError("not_found")
