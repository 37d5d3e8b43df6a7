"""A server process on a simulated internet stores and serves a post's images, or warns about them.

DNS, TLS, the decoder's sandbox, the store and the live socket are real. Every code listed in
docs/webhooks.md, "Pictures", occurs once.
"""

import asyncio
import gzip
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from svc.chat.webhooks.limits import MAX_ICON_BYTES, MAX_PICTURE_BYTES
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.webhooks.picture_server import PNG, padded
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.certificates import Authority
from tests.kit.chat_process import ChatProcess, chat_process
from tests.kit.hostile_pictures import SVG
from tests.kit.name_server import name_server
from tests.kit.pictures import animation, decoded, encoded, scene
from tests.kit.private_internet import (
    OTHER,
    PUBLIC,
    Host,
    Pages,
    Speech,
    answer,
    hosted,
    inside,
    names,
    on_an_internet,
    redirect,
)

HTTP, HTTPS = "http://pictures.example", "https://secure.example"


class Site:
    """A chat server process with a webhook, hosts on the internet and internal hosts."""

    def __init__(self, hook: Hook, owner: HttpMember, host: Host, store: Path, server: ChatProcess) -> None:
        self.hook = hook
        self.owner = owner
        self.host = host
        self.store = store
        self.server = server

    async def post(self, **payload: object) -> tuple[dict[str, Any], dict[str, str]]:
        """Post a message. Return the message as readers receive it, and the codes of its warnings by path."""
        async with self.hook.chat.http.post(self.hook.path, json=payload) as response:
            answered = await response.json()
            assert response.status == 200, answered
        message = await self.hook.arrived()
        assert message["id"] == answered["message_id"]
        assert all(warning.keys() == {"path", "code", "message"} for warning in answered["warnings"])
        return message, {warning["path"]: warning["code"] for warning in answered["warnings"]}

    async def load(self, address: str) -> bytes:
        """Load an image as a browser does, without any credentials."""
        async with ClientSession(self.hook.chat.address) as http, http.get(address) as response:
            assert response.status == 200
            assert response.content_type == "image/webp"
            return await response.read()


@asynccontextmanager
async def site(pages: Pages, folder: Path) -> AsyncIterator[Site]:
    authority = Authority()
    (folder / "authority.pem").write_bytes(authority.certificate)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.pair(name="secure.example").write(folder))
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "ADDITIONAL_CHANNELS": "general",
        "SSL_CERT_FILE": str(folder / "authority.pem"),
        # A proxy would see every URL, so the server must not use one.
        **dict.fromkeys(
            ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:80"
        ),
    }
    known = names(
        pictures=PUBLIC,
        secure=OTHER,
        private="127.0.0.1",
        turning=[[PUBLIC], ["127.0.0.1"]],
    )
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        host = await enter(hosted(pages, (PUBLIC,)))
        await enter(hosted(pages, (OTHER,), 443, tls))
        private = await enter(inside())
        await enter(name_server(known, silent=("silent.example",)))
        server = await enter(chat_process(variables))
        http = await enter(ClientSession(server.address))
        chat = ChatServer(server.address, http, (folder / "data/invite-code").read_text().strip())
        owner = await newcomer(chat, "Owner")
        hook = await enter(hook_of(owner))
        yield Site(hook, owner, host, folder / "data/uploads-store", server)
        assert private.connections == 0, "no connection reaches the private host"


def test_images_in_a_post_are_stored_and_served(tmp_path: Path) -> None:
    pages = {
        "/avatar": answer(encoded(scene(600, 300), "JPEG")),
        "/image": answer(encoded(scene(600, 300), "PNG")),
        "/moving": answer(animation(4, "GIF")),
        "/moved": redirect("https://secure.example/image"),
    }

    async def body() -> None:
        async with site(pages, tmp_path) as scene:
            message, warnings = await scene.post(
                text="a",
                avatar_url=f"{HTTP}/avatar",
                cards=[
                    {
                        "author": {"name": "b", "icon_url": f"{HTTP}/moved"},
                        "image_url": f"{HTTP}/image",
                        "thumbnail_url": f"{HTTPS}/moving",
                        "footer": {"text": "c", "icon_url": f"{HTTP}/image"},
                    }
                ],
            )
            assert warnings == {}
            (card,) = message["cards"]
            shown = {
                "author icon": card["author"]["icon"],
                "image": card["image"],
                "thumbnail": card["thumbnail"],
                "footer icon": card["footer"]["icon"],
            }
            sizes = {name: (picture["width"], picture["height"]) for name, picture in shown.items()}
            assert sizes == dict.fromkeys(("author icon", "image", "footer icon"), (600, 300)) | {
                "thumbnail": (32, 24)
            }
            assert shown["image"]["key"] == shown["footer icon"]["key"]  # Each URL is stored as one file.
            loaded = {name: decoded(await scene.load(picture["url"])) for name, picture in shown.items()}
            assert {name: image.size for name, image in loaded.items()} == sizes
            assert getattr(loaded["thumbnail"], "n_frames", 1) == 4
            avatar = decoded(await scene.load(message["author"]["avatar"]))
            assert avatar.size == (256, 128)
            assert Counter(scene.host.paths) == {"/avatar": 1, "/image": 1, "/moved": 1}
            assert "example" not in str(card)  # Readers' clients load only the stored copies.
            assert len(list(scene.store.glob("uploads/*.webp"))) == 4

    on_an_internet(body, tmp_path)


async def _never_end(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + PNG[:50])
    while True:
        writer.write(b"\0")
        await writer.drain()
        await asyncio.sleep(0.1)


def test_a_message_is_posted_despite_warnings_about_its_images(tmp_path: Path) -> None:
    pages: dict[str, bytes | Speech] = {
        **{f"/{at}": redirect(f"/{at + 1}") for at in range(6)},
        "/6": answer(PNG),
        "/good": answer(PNG),
        "/inside": redirect("http://private.example/"),
        "/large": answer(padded(MAX_PICTURE_BYTES + 1)),
        "/large-icon": answer(padded(MAX_ICON_BYTES + 1)),
        "/endless": _never_end,
        "/svg": answer(SVG, Content_Type="image/png"),
        "/half": answer(PNG[: len(PNG) // 2]),
    }
    images = {
        "http://127.0.0.1/": "blocked",
        "http://0x7f.1:8080/": "blocked",
        f"{HTTP}/inside": "blocked",
        f"{HTTP}/0": "blocked",
        f"{HTTP}/nowhere": "fetch_failed",
        f"{HTTP}/large": "too_large",
        f"{HTTP}/endless": "timeout",
        f"{HTTP}/svg": "unsupported_type",
        f"{HTTP}/half": "invalid_image",
    }

    async def body() -> None:
        async with site(pages, tmp_path) as scene:
            message, warnings = await scene.post(
                text="a",
                colour="red",
                avatar_url=f"{HTTP}/large-icon",
                cards=[
                    {"title": "good", "thumbnail_url": f"{HTTP}/1"},
                    *({"title": "bad", "image_url": address} for address in images),
                ],
            )
            expected = {f"cards[{at}].image_url": code for at, code in enumerate(images.values(), 1)}
            assert warnings == {"colour": "unknown_key", "avatar_url": "too_large", **expected}
            # Five redirects are followed. Cards appear even if their images are omitted.
            assert message["cards"][0]["thumbnail"]["width"] == 64
            assert [card["title"] for card in message["cards"]] == ["good"] + ["bad"] * len(images)
            assert not any("image" in card for card in message["cards"])
            metrics = await scene.hook.chat.metrics()
            assert 'svc_chat_webhook_pictures_total{outcome="ok"} 1.0' in metrics
            assert 'svc_chat_webhook_pictures_total{outcome="blocked"} 4.0' in metrics

    on_an_internet(body, tmp_path)


def test_more_than_32_megabytes_and_a_failing_store_cause_warnings(tmp_path: Path) -> None:
    pages = {f"/{at}": answer(padded(MAX_PICTURE_BYTES)) for at in range(5)} | {"/small": answer(PNG)}

    async def body() -> None:
        async with site(pages, tmp_path) as scene:
            cards = [{"image_url": f"{HTTP}/{at}"} for at in range(5)]
            message, warnings = await scene.post(cards=cards)
            assert list(warnings.values()) == ["media_budget"]
            assert sum("image" in card for card in message["cards"]) == 4
            # Replace the store's folder with a file.
            scene.store.rename(tmp_path / "elsewhere")
            scene.store.write_text("")
            message, warnings = await scene.post(text="a", avatar_url=f"{HTTP}/small")
            assert warnings == {"avatar_url": "store_failed"}
            assert message["text"] == "a"

    on_an_internet(body, tmp_path)


def test_a_host_name_that_becomes_private_is_blocked_on_the_next_post(tmp_path: Path) -> None:
    async def body() -> None:
        async with site({"/a": answer(PNG)}, tmp_path) as scene:
            for expected in ({}, {"avatar_url": "blocked"}):
                _, warnings = await scene.post(text="a", avatar_url="http://turning.example/a")
                assert warnings == expected

    on_an_internet(body, tmp_path)


def peak_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) // 1024


@pytest.mark.nightly("300 posts with 200 MB bombs")
@pytest.mark.timeout(300)
def test_three_hundred_concurrent_hostile_posts_use_bounded_memory_and_all_get_a_response(
    tmp_path: Path,
) -> None:
    bomb = answer(gzip.compress(bytes(200 * 1024 * 1024), 9), Content_Encoding="gzip")
    pages: dict[str, bytes | Speech] = {
        "/endless": _never_end,
        "/bomb": bomb,
        "/large": answer(padded(MAX_PICTURE_BYTES)),
        "/loop": redirect("/loop"),
        "/half": answer(PNG[: len(PNG) // 2]),
        "/good": answer(PNG),
    }
    addresses = [*(f"{HTTP}{path}" for path in pages), "http://silent.example/", "http://private.example/"]

    async def body() -> None:
        everyone = TCPConnector(limit=0)
        async with (
            site(pages, tmp_path) as scene,
            ClientSession(scene.hook.chat.address, connector=everyone) as http,
        ):

            async def post(path: str, urls: Sequence[str] = addresses) -> Counter[str]:
                cards = [{"title": "a", "image_url": url} for url in urls]
                async with http.post(path, json={"cards": cards}) as response:
                    assert response.status == 200
                    return Counter(warning["code"] for warning in (await response.json())["warnings"])

            hooks = [
                await scene.owner.done("POST", "/api/webhooks", {"name": "a", "channel_id": "general"})
                for _ in range(20)
            ]
            paths = [f"/api/webhooks/{hook['id']}/{hook['token']}" for hook in hooks for _ in range(15)]
            codes = sum(await asyncio.gather(*map(post, paths)), Counter[str]())
            assert codes.keys() <= {"blocked", "fetch_failed", "too_large", "timeout", "invalid_image"}
            # Then the resources are free again.
            assert await post(scene.hook.path, [f"{HTTP}/good"]) == {}
            # The limit allows for 128 MB of images, the same amount in buffers, and the program itself.
            assert peak_mb(scene.server.process.pid) < 512, codes

    on_an_internet(body, tmp_path, within_s=240)
