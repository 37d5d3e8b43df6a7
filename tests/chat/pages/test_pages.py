"""The web client's files are served compressed and under names that change with their content."""

import gzip
import json
import mmap
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from yarl import URL

from svc.chat.pages import routes
from svc.chat.pages.routes import WEB_FOLDER, Pages, manifest
from tests.chat.chat_server import ChatServer

# The budget for compressed scripts and style sheets that are loaded before the first message appears.
BUDGET_BYTES = 120_000


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/web/main.js", "text/javascript; charset=utf-8"),
        ("/web/style.css", "text/css; charset=utf-8"),
        ("/web/words/en.ftl", "text/plain; charset=utf-8"),
        ("/web/icon.svg", "image/svg+xml"),
    ],
)
async def test_files_have_the_right_content_types_and_are_revalidated_each_time(
    chat: ChatServer, path: str, content_type: str
) -> None:
    async with chat.http.get(path) as response:
        assert (response.status, response.headers["Content-Type"]) == (200, content_type)
        assert response.headers["Cache-Control"] == "no-cache"
        tag = response.headers["ETag"]
    async with chat.http.get(path, headers={"If-None-Match": tag}) as response:
        assert (response.status, await response.read()) == (304, b"")


async def test_the_page_refers_to_files_that_are_cached_for_a_year(chat: ChatServer) -> None:
    async with chat.http.get("/") as response:
        page = await response.text()
    addresses = set(re.findall(r'(?:src|href)="(/web/[^"]+)"', page))
    assert len(addresses) > 4
    for path in addresses:
        async with chat.http.get(path) as response:
            assert response.status == 200, path
            assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("it,fr;q=0.5,en;q=0.4", "fr"),
        ("tlh, *;q=0.5", "en"),
        ("ja;q=0", "en"),
        ("en;q=x, es", "en"),
    ],
)
async def test_the_page_immediately_loads_the_strings_in_the_browsers_language(
    chat: ChatServer, accepted: str, language: str
) -> None:
    async with chat.http.get("/", headers={"Accept-Language": accepted}) as response:
        page = await response.text()
        assert "Accept-Language" in response.headers["Vary"]
    assert re.findall(r"words/(\w+)\.ftl", page) == [language]
    assert f'<html lang="{language}">' in page


@pytest.mark.parametrize(("chosen", "language"), [("fr", "fr"), ("en", "en"), ("tlh", "de"), ('"', "de")])
async def test_the_members_chosen_language_takes_precedence_over_the_browsers(
    chat: ChatServer, chosen: str, language: str
) -> None:
    headers = {"Accept-Language": "de", "Cookie": f"other=1; svc.language={chosen}"}
    async with chat.http.get("/", headers=headers) as response:
        page = await response.text()
        assert "Cookie" in response.headers["Vary"]
    assert re.findall(r"words/(\w+)\.ftl", page) == [language]


async def test_the_page_loads_only_a_few_small_files_at_startup(chat: ChatServer) -> None:
    """Check the style sheets and all modules that the page imports at startup, directly or indirectly."""
    async with chat.http.get("/") as response:
        page = await response.text()
    waiting = re.findall(r'(?:src|href)="(/web/[^"]+\.(?:js|css))"', page)
    sizes: dict[str, int] = {}
    while waiting:
        path = waiting.pop()
        async with chat.http.get(f"{chat.address}{path}", headers={"Accept-Encoding": "gzip"}) as response:
            text = await response.text()
            sizes[path] = int(response.headers["Content-Length"])
        imported = re.findall(r'^import\b[^;(]*"(\.[^"]+)"', text, re.MULTILINE)
        waiting += {str(URL(path).join(URL(address))) for address in imported} - set(sizes)
    assert len(sizes) == 3
    assert sum(sizes.values()) <= BUDGET_BYTES


async def test_the_service_worker_precaches_the_startup_files_of_its_version(
    chat: ChatServer,
) -> None:
    async with chat.http.get("/") as response:
        page = await response.text()
    async with chat.http.get("/sw.js") as response:
        assert response.headers["Cache-Control"] == "no-cache"
        worker = await response.text()
    [files] = re.findall(r'FILES = "([^"]+)"', worker)
    assert set(files.split()) > set(re.findall(r'"(/web/[^"]+)"', page))
    assert any(path.endswith("/later.js") for path in files.split())
    assert any(path.endswith("/later.css") for path in files.split())
    assert any(path.endswith("/icons_later.js") for path in files.split())
    assert any(path.endswith("/words/en.ftl") for path in files.split())
    assert not any(path.endswith("/sw.js") for path in files.split())
    for path in files.split():
        async with chat.http.get(path) as response:
            assert response.status == 200, path
    assert "{{" not in worker and f'VERSION = "{files.split("/")[2]}"' in worker


async def test_the_manifest_has_the_servers_name_and_existing_icons(chat: ChatServer) -> None:
    async with chat.http.get("/manifest.webmanifest") as response:
        assert response.content_type == "application/manifest+json"
        body = json.loads(await response.text())
    assert (body["name"], body["scope"], body["start_url"]) == ("Tests", "/", "/")
    assert body["display"] == "standalone"  # The installed web client has its own window.
    for icon in body["icons"]:
        async with chat.http.get(icon["src"]) as response:
            assert response.status == 200
    shared = body["share_target"]
    how = [shared[name] for name in ("action", "method", "enctype")]
    assert how == ["/share", "POST", "multipart/form-data"]
    # The service worker reads the form fields with these names.
    assert {*shared["params"]} == {"title", "text", "url", "files"}
    assert [files["name"] for files in shared["params"]["files"]] == ["files"]


def test_the_manifest_lists_the_servers_icon_first() -> None:
    icons = manifest("Ours", "/icon?v=1")["icons"]
    assert isinstance(icons, list) and icons[0]["src"] == "/icon?v=1"


async def test_files_are_compressed_for_clients_that_accept_it(chat: ChatServer) -> None:
    url = f"{chat.address}/web/vendor/preact.js"
    plain = (WEB_FOLDER / "vendor/preact.js").read_bytes()
    async with chat.http.get(url, headers={"Accept-Encoding": "gzip"}) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["Vary"] == "Accept-Encoding"
        assert int(response.headers["Content-Length"]) < len(plain) / 2
        assert await response.read() == plain
    async with chat.http.get(url, headers={"Accept-Encoding": "identity"}) as response:
        assert "Content-Encoding" not in response.headers
        assert await response.read() == plain


@pytest.mark.parametrize(
    "path",
    [
        "/web/../config.py",
        "/web/%2e%2e/chat/config.py",
        "/web/..%2findex.html",
        "/web//etc/hostname",
        "/web/%00",
        "/web/" + "x" * 5000,
        "/web/.",
        "/web/0123456789abcdef/main.js",
    ],
)
async def test_only_files_in_the_folder_and_of_this_version_are_served(chat: ChatServer, path: str) -> None:
    async with chat.http.get(URL(f"{chat.address}{path}", encoded=True)) as response:
        assert response.status == 404


def files_of(pages: Pages) -> Iterator[str]:
    yield from pages._plain


def test_symbolic_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "plain.txt").write_text("plain")
    (folder / "script.py").write_text("plain")
    assert list(files_of(Pages(folder))) == ["plain.txt"]


def test_the_version_changes_when_any_file_changes(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    first = Pages(tmp_path).version
    assert Pages(tmp_path).version == first
    (tmp_path / "a.js").write_text("10")
    second = Pages(tmp_path).version
    (tmp_path / "a.js").rename(tmp_path / "b.js")
    assert len({first, second, Pages(tmp_path).version}) == 3


def test_a_page_that_cannot_be_bundled_is_served_unbundled(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<head></head>")
    (tmp_path / "main.js").write_text("export default 1;")
    assert set(Pages(tmp_path)._of_version) == {"index.html", "main.js"}


def test_files_that_do_not_shrink_are_not_compressed(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(gzip.compress(b"a" * 100))
    (plain,) = Pages(tmp_path)._plain.values()
    assert len(plain.compressed) == 0


def test_prepared_files_are_reused_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain.txt").write_text("one")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    prepare = Mock(wraps=routes._prepare)
    monkeypatch.setattr(routes, "_prepare", prepare)

    first = Pages(tmp_path)
    (kept,) = (tmp_path / "__pycache__").iterdir()
    assert Pages(tmp_path)._of_version == first._of_version
    assert isinstance(first._of_version["plain.txt"].content.obj, mmap.mmap), "the cache is memory-mapped"
    assert prepare.call_count == 1
    half = tmp_path / "__pycache__" / "half"
    half.write_bytes(kept.read_bytes()[:-1])
    half.replace(kept)
    assert Pages(tmp_path)._of_version == first._of_version
    (tmp_path / "plain.txt").write_text("another")
    assert Pages(tmp_path).version != first.version
    assert prepare.call_count == 3


def test_files_of_a_read_only_folder_are_served_and_cached_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, data = tmp_path / "web", tmp_path / "data"
    for folder in (web, data):
        folder.mkdir()
    (web / "plain.txt").write_text("one")
    (web / "__pycache__").write_text("in the way")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    prepare = Mock(wraps=routes._prepare)
    monkeypatch.setattr(routes, "_prepare", prepare)

    assert list(files_of(Pages(web))) == ["plain.txt"]
    for _ in range(2):
        assert list(files_of(Pages(web, data_dir=data))) == ["plain.txt"]
    assert prepare.call_count == 2
    assert (data / "cache").stat().st_mode & 0o077 == 0
