"""The web client: `GET /` and `GET /web/…`, the files of the package, read once and compressed once;
its service worker, `GET /sw.js`, and its manifest.

The page names its files under `/web/<version>/`, where the version is a digest of all of them, so browsers
keep them for a year and ask for new ones after an update. Relative imports stay within the version. The
same files without a version are for everybody else, and are checked each time. Never serves a listing.
Sets no headers that all answers carry; the application does.
"""

import gzip
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from svc.base.strict_json import dumps
from svc.chat.errors import ChatError

INDEX = "index.html"
# Served at the top too, for a service worker sees only what is below its own address.
SERVICE_WORKER = "sw.js"
# The module that starts the page; whatever it imports is preloaded.
FIRST_MODULE = "main.js"
# Many files to read, one to fetch: the style sheets, and each language's words.
_STYLES, STYLE = "style/", "style.css"
_WORDS = re.compile(r"(words/[\w-]+)/[\w-]+\.ftl")
# Libraries; some are large, and fetched only by those who want them.
_VENDOR = "vendor/"
_VERSION_DIGITS = 16
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_ASK_EACH_TIME = "no-cache"
# The system's own table differs from machine to machine, and a module that comes as
# text/plain does not run.
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ftl": "text/plain; charset=utf-8",
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
    ".wasm": "application/wasm",
    ".wav": "audio/wav",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_IMPORT = re.compile(
    r"""^(?:import\s*|(?:import|export)\b[^"';]*\bfrom\s*)["'](\.{1,2}/[^"']+)["']""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    # Empty where compression saves nothing.
    compressed: bytes
    content_type: str
    tag: str


class Pages:
    """`folder` holds index.html and what it refers to. A change of the files needs a new one of these.

    `name` says what the server is called; `icon` where its own icon is, if it has one.
    """

    def __init__(
        self, folder: Path, name: Callable[[], str] = str, icon: Callable[[], str | None] = lambda: None
    ) -> None:
        self._name = name
        self._icon = icon
        contents = joined(dict(_contents(folder.resolve())))
        digest = hashlib.sha256()
        for path, content in contents.items():
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        self.version = digest.hexdigest()[:_VERSION_DIGITS]
        if INDEX in contents:
            contents[INDEX] = _with_versions(contents, self.version)
        if SERVICE_WORKER in contents:
            contents[SERVICE_WORKER] = _for_this_version(contents, self.version)
        self._files = {name: _file(name, content) for name, content in contents.items()}

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/web/{path:.+}", self.file),
            web.get("/sw.js", self.service_worker),
            web.get("/manifest.webmanifest", self.manifest),
        ]

    async def index(self, request: web.Request) -> web.Response:
        return self._answer(request, INDEX, _ASK_EACH_TIME)

    async def service_worker(self, request: web.Request) -> web.Response:
        return self._answer(request, SERVICE_WORKER, _ASK_EACH_TIME)

    async def manifest(self, request: web.Request) -> web.Response:
        """What a system shows of the page once it is installed."""
        body = dumps(manifest(self._name(), self._icon()))
        headers = {"Content-Type": _CONTENT_TYPES[".webmanifest"], "Cache-Control": _ASK_EACH_TIME}
        return web.Response(body=body, headers=headers)

    async def file(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        version, _, name = path.partition("/")
        if version == self.version:
            return self._answer(request, name, _FOR_A_YEAR)
        return self._answer(request, path, _ASK_EACH_TIME)

    def _answer(self, request: web.Request, name: str, caching: str) -> web.Response:
        found = self._files.get(name)
        if found is None:
            raise ChatError("not_found")
        headers = {
            "Content-Type": found.content_type,
            "Cache-Control": caching,
            "ETag": f'"{found.tag}"',
            "Vary": "Accept-Encoding",
        }
        known = request.if_none_match
        if known is not None and any(tag.value in (found.tag, "*") for tag in known):
            return web.Response(status=304, headers=headers)
        if found.compressed and "gzip" in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=found.compressed, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=found.content, headers=headers)


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file that is served; of links only those that stay in the folder."""
    for path in sorted(folder.rglob("*")):
        inside = path.resolve().is_relative_to(folder)
        if inside and path.suffix in _CONTENT_TYPES and path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def joined(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with the style sheets as one, base first, and the words of each language as one."""
    parts: dict[str, list[bytes]] = {}
    for name, content in sorted(
        contents.items(), key=lambda item: (item[0] != f"{_STYLES}base.css", item[0])
    ):
        words = _WORDS.fullmatch(name)
        whole = STYLE if name.startswith(_STYLES) else f"{words[1]}.ftl" if words else name
        parts.setdefault(whole, []).append(content)
    return {name: b"\n".join(contents) for name, contents in sorted(parts.items())}


def _file(name: str, content: bytes) -> _File:
    compressed = gzip.compress(content, mtime=0)
    return _File(
        content,
        compressed if len(compressed) < len(content) else b"",
        _CONTENT_TYPES[Path(name).suffix],
        hashlib.sha256(content).hexdigest()[:_VERSION_DIGITS],
    )


def _with_versions(contents: Mapping[str, bytes], version: str) -> bytes:
    """The page, its files named with the version, and its modules preloaded: browsers fetch them at once."""
    page = contents[INDEX].decode().replace('"/web/', f'"/web/{version}/')
    modules = "".join(
        f'  <link rel="modulepreload" href="/web/{version}/{name}">\n' for name in imported(contents)
    )
    return page.replace("</head>", f"{modules}</head>", 1).encode()


def _for_this_version(contents: Mapping[str, bytes], version: str) -> bytes:
    """The service worker, which keeps the files that the page starts with, and its own modules that come
    later: after an update of the server nobody has those of this version any more.
    """
    files = re.findall(rf'"(/web/{version}/[^"]+)"', contents[INDEX].decode())
    files += [f"/web/{version}/{name}" for name in contents if _is_own_module(name)]
    worker = contents[SERVICE_WORKER].decode().replace("{{version}}", version)
    return worker.replace("{{files}}", " ".join(dict.fromkeys(files))).encode()


def _is_own_module(name: str) -> bool:
    return name.endswith(".js") and name != SERVICE_WORKER and not name.startswith(_VENDOR)


def manifest(name: str, icon: str | None) -> dict[str, object]:
    """W3C Web App Manifest, with what the system may share with the page."""
    icons = [{"src": icon, "sizes": "any", "purpose": "any"}] if icon else []
    own = {"src": "/web/icon.svg", "type": "image/svg+xml", "sizes": "any", "purpose": "any"}
    files = {"name": "files", "accept": ["image/*", "video/*", "audio/*", "text/*", "application/*"]}
    return {
        "id": "/",
        "name": name or "svc",
        "short_name": name or "svc",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "icons": [*icons, own],
        "share_target": {
            "action": "/share",
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {"title": "title", "text": "text", "url": "url", "files": [files]},
        },
    }


def imported(contents: Mapping[str, bytes], first: str = FIRST_MODULE) -> list[str]:
    """The names of all modules that the first one imports, also through others, in the order of meeting."""
    met: dict[str, None] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop(0)
        for address in _IMPORT.findall(contents.get(name, b"").decode()):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            if module not in met and module != first and module in contents:
                met[module] = None
                waiting.append(module)
    return list(met)
