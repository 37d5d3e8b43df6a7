"""Serves the web client: `GET /` and `GET /web/…`, its service worker `GET /sw.js`, and its manifest.

Files are bundled and compressed once, and cached like Python's bytecode in a memory-mapped file, so files
that nobody fetches use no memory. If the package's folder is not writable, the cache is in the data folder.
The page refers to its files under `/web/<version>/`, where the version is a digest of all files. Browsers
cache them for a year and fetch new ones after an update. Under a path without a version, each file is served
unprocessed for developers, and revalidated at each request. Folders are not listed. The application adds the
response headers.
"""

import base64
import gzip
import hashlib
import logging
import mmap
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from aiohttp import web

import svc
from svc.base.strict_json import dumps
from svc.chat.errors import ChatError
from svc.chat.pages.bundler import (
    COUNTS_FRAME,
    FIRST,
    LATER_ICONS,
    LATER_STYLE,
    SERVICE_WORKER,
    bundle,
    is_own_module,
    merged_files,
)
from svc.chat.pages.javascript import UnsupportedSyntax

logger = logging.getLogger(__name__)

WEB_FOLDER = Path(svc.__file__).parent / "web"
INDEX = "index.html"
_CODE = Path(__file__).parent
_CACHE = "pages.msgpack"
_WORDS = re.compile(r"words/([\w-]+)\.ftl")
# The page's language if none of the browser's languages is available.
_DEFAULT_LANGUAGE = "en"
_VERSION_DIGITS = 16
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_ASK_EACH_TIME = "no-cache"
# The media types by file extension. The system's table differs between machines, and browsers do not run a
# module of type text/plain.
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
_SUFFIXES = tuple(_CONTENT_TYPES)


@dataclass(frozen=True, slots=True)
class _File:
    content: memoryview
    # Empty if compression would save nothing.
    compressed: memoryview
    content_type: str
    tag: str


@dataclass(frozen=True, slots=True)
class _CachedFiles:
    """The cached files. `made_of` identifies their sources and the code that built them."""

    made_of: str
    version: str
    plain: dict[str, _File]
    of_version: dict[str, _File]


class Pages:
    """The web client's files in `folder`, which contains index.html. Create a new instance if the files
    change.

    `name` returns the server's name, and `icon` the URL of its icon, if any. If `folder` is not writable, the
    prepared files are cached in `data_dir`.
    """

    def __init__(
        self,
        folder: Path,
        name: Callable[[], str] = str,
        icon: Callable[[], str | None] = lambda: None,
        data_dir: Path | None = None,
    ) -> None:
        self._name = name
        self._icon = icon
        prepared = _load_cache(folder.resolve(), data_dir)
        self.version, self._plain, self._of_version = prepared.version, prepared.plain, prepared.of_version
        self._languages = [match[1] for match in map(_WORDS.fullmatch, self._of_version) if match]

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/web/{path:.+}", self.file),
            web.get("/sw.js", self.service_worker),
            web.get("/manifest.webmanifest", self.manifest),
            web.get("/counts-frame", self.counts_frame),
        ]

    async def index(self, request: web.Request) -> web.Response:
        # The page stores the member's chosen language in this cookie. See words/words.js.
        language = request.cookies.get("svc.language", "")
        if language not in self._languages:
            language = preferred_language(request.headers.get("Accept-Language", ""), self._languages)
        name = INDEX if language == _DEFAULT_LANGUAGE else f"{INDEX}.{language}"
        response = _answer(request, self._of_version, name, _ASK_EACH_TIME)
        response.headers["Vary"] = "Accept-Encoding, Accept-Language, Cookie"
        return response

    async def service_worker(self, request: web.Request) -> web.Response:
        return _answer(request, self._of_version, SERVICE_WORKER, _ASK_EACH_TIME)

    async def counts_frame(self, _: web.Request) -> web.Response:
        """Return the frame that fetches unread counts from the user's other servers. See docs/servers.md.

        The frame's policy gives it no origin, so other servers do not learn which page requests the counts.
        Only this frame may connect to other servers, and it contains no data from this server.
        """
        script = bytes(self._plain[COUNTS_FRAME].content) if COUNTS_FRAME in self._plain else b""
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        headers = {
            "Content-Type": _CONTENT_TYPES[".html"],
            "Cache-Control": _ASK_EACH_TIME,
            "Content-Security-Policy": (
                f"sandbox allow-scripts; default-src 'none'; script-src 'sha256-{digest}'; "
                "connect-src https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
                "require-trusted-types-for 'script'"
            ),
        }
        page = b'<!doctype html>\n<meta charset="utf-8">\n<script>%b</script>\n' % script
        return web.Response(body=page, headers=headers)

    async def manifest(self, request: web.Request) -> web.Response:
        """Return the manifest that operating systems use when the web client is installed."""
        body = dumps(manifest(self._name(), self._icon()))
        headers = {"Content-Type": _CONTENT_TYPES[".webmanifest"], "Cache-Control": _ASK_EACH_TIME}
        return web.Response(body=body, headers=headers)

    async def file(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        version, _, name = path.partition("/")
        if version == self.version:
            return _answer(request, self._of_version, name, _FOR_A_YEAR)
        return _answer(request, self._plain, path, _ASK_EACH_TIME)


def preferred_language(accepted: str, known: Collection[str]) -> str:
    """Return the language in `known` that best matches an Accept-Language header (RFC 9110, section
    12.5.4).
    """
    qualities = dict[str, float]()
    for part in accepted.split(","):
        tag, _, quality = part.strip().partition(";")
        number = re.fullmatch(r"\s*q=([01](?:\.\d{1,3})?)\s*", quality)
        qualities.setdefault(tag.partition("-")[0].lower(), float(number[1]) if number else 1.0)
    best = max(
        (name for name in qualities if name in known and qualities[name]),
        key=qualities.__getitem__,
        default="",
    )
    return best or _DEFAULT_LANGUAGE


def _answer(request: web.Request, files: Mapping[str, _File], name: str, caching: str) -> web.Response:
    file = files.get(name)
    if file is None:
        raise ChatError("not_found")
    headers = {
        "Content-Type": file.content_type,
        "Cache-Control": caching,
        "ETag": f'"{file.tag}"',
        "Vary": "Accept-Encoding",
    }
    known = request.if_none_match
    if known is not None and any(tag.value in (file.tag, "*") for tag in known):
        return web.Response(status=304, headers=headers)
    if file.compressed and "gzip" in request.headers.get("Accept-Encoding", ""):
        return web.Response(body=file.compressed, headers={**headers, "Content-Encoding": "gzip"})
    return web.Response(body=file.content, headers=headers)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the files to serve, in a fixed order, without symbolic links to files outside the folder.

    Uses `os.scandir`, because `Path.rglob` takes a third of the startup time.
    """
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        elif entry.name.endswith(_SUFFIXES) and entry.is_file():
            yield entry


def _is_inside(entry: os.DirEntry[str], folder: Path) -> bool:
    return not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(folder)


def _load_cache(folder: Path, data_dir: Path | None = None) -> _CachedFiles:
    """Return the files that an earlier run cached in `folder` or `data_dir`. If sources or code have changed,
    prepare them again.

    Compares sizes and times, because reading all files takes as long as the rest of the startup.
    """
    files = [entry for entry in _files(folder) if _is_inside(entry, folder)]
    with os.scandir(_CODE) as listed:
        code = sorted((entry for entry in listed if entry.name.endswith(".py")), key=lambda entry: entry.name)
    looks = _digest_of(files, folder) + _digest_of(code, _CODE)
    caches = {folder / "__pycache__" / _CACHE: 0o777}
    if data_dir is not None:
        caches[data_dir / "cache" / _CACHE] = 0o700
    for cache in caches:
        if (cached := _map_cache(cache, looks)) is not None:
            return cached
    paths = [Path(entry.path) for entry in files]
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    prepared = _prepare(contents, looks)
    for cache, mode in () if sys.dont_write_bytecode else caches.items():
        # If no folder is writable, the files are prepared again at every start.
        with suppress(OSError):
            cache.parent.mkdir(mode, exist_ok=True)
            _write_cache(cache, prepared)
            return _map_cache(cache, looks) or prepared
    return prepared


def _write_cache(cache: Path, prepared: _CachedFiles) -> None:
    """Write the cache. Raises OSError."""
    whole = cache.with_suffix(f".{os.getpid()}")
    whole.write_bytes(msgspec.msgpack.encode(prepared))
    # Make the file readable by everyone, because another user may start the server next. It contains no
    # secrets.
    whole.chmod(0o644)
    whole.replace(cache)


def _map_cache(cache: Path, looks: str) -> _CachedFiles | None:
    """Return the prepared files as views of the memory-mapped cache, or None if it is damaged or outdated."""
    try:
        with cache.open("rb") as file:
            # Raises ValueError for an empty file, which cannot be mapped.
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        cached = msgspec.msgpack.decode(whole, type=_CachedFiles)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    # Decoding has read nearly all of the file into this process. Release that memory: the kernel's page cache
    # still holds the file.
    whole.madvise(mmap.MADV_DONTNEED)
    return cached if cached.made_of == looks else None


def _digest_of(files: Iterable[os.DirEntry[str]], folder: Path) -> str:
    """Return a digest of the paths, sizes and times of all files."""
    digest = hashlib.sha256()
    for entry in files:
        status = entry.stat()
        name = entry.path.removeprefix(str(folder))
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _prepare(contents: Mapping[str, bytes], made_of: str) -> _CachedFiles:
    written = merged_files(contents)
    try:
        made = bundle(written)
    except UnsupportedSyntax as error:
        # An operator must have changed the web client's source. The client still works unbundled, but needs
        # more requests.
        made = dict(written)
        logger.warning("joining the page's files failed", extra={"fault": str(error)})
    digest = hashlib.sha256()
    for path, content in made.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    version = digest.hexdigest()[:_VERSION_DIGITS]
    if INDEX in made:
        made[INDEX] = _with_versions(made, version)
    if SERVICE_WORKER in made:
        made[SERVICE_WORKER] = _for_this_version(made, version)
    files = {name: _file(name, content) for name, content in made.items()}
    files |= {f"{INDEX}.{language}": _file(INDEX, page) for language, page in _pages_in_languages(made)}
    plain = {
        name: files[name] if made.get(name) == content else _file(name, content)
        for name, content in written.items()
    }
    return _CachedFiles(made_of, version, plain, files)


def _file(name: str, content: bytes) -> _File:
    compressed = gzip.compress(content, mtime=0)
    return _File(
        memoryview(content),
        memoryview(compressed if len(compressed) < len(content) else b""),
        _CONTENT_TYPES[Path(name).suffix],
        hashlib.sha256(content).hexdigest()[:_VERSION_DIGITS],
    )


def _with_versions(files: Mapping[str, bytes], version: str) -> bytes:
    """Return the page with versioned URLs and a preload of its first bundle."""
    page = files[INDEX].decode().replace('"/web/', f'"/web/{version}/')
    first = f'  <link rel="modulepreload" href="/web/{version}/{FIRST}">\n' if FIRST in files else ""
    return page.replace("</head>", f"{first}</head>", 1).encode()


def _pages_in_languages(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield every language except English, each with a page that loads that language's strings first."""
    page, usual = files.get(INDEX, b""), f"words/{_DEFAULT_LANGUAGE}.ftl".encode()
    for name in files:
        match = _WORDS.fullmatch(name)
        if match and match[1] != _DEFAULT_LANGUAGE:
            yield (
                match[1],
                page.replace(usual, name.encode()).replace(b'lang="en"', f'lang="{match[1]}"'.encode(), 1),
            )


def _for_this_version(files: Mapping[str, bytes], version: str) -> bytes:
    """Return the service worker with the list of files to cache.

    The list includes modules, styles and icons that the page fetches later, because after an update the
    server no longer has this version's files.
    """
    urls = re.findall(rf'"(/web/{version}/[^"]+)"', files[INDEX].decode())
    urls += [
        f"/web/{version}/{name}"
        for name in files
        if is_own_module(name) or name in (LATER_STYLE, LATER_ICONS)
    ]
    worker = files[SERVICE_WORKER].decode().replace("{{version}}", version)
    return worker.replace("{{files}}", " ".join(dict.fromkeys(urls))).encode()


def manifest(name: str, icon: str | None) -> dict[str, object]:
    """Return the W3C Web App Manifest, with the types of content that other applications may share with the
    web client.
    """
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
