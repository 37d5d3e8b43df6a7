"""A message's images are stored, or omitted with a warning."""

import asyncio
import gzip
from collections import Counter
from pathlib import Path

import pytest

from svc.base.pictures import kind_of
from svc.chat.webhooks import pictures as pictures_module
from svc.chat.webhooks.limits import MAX_ICON_BYTES, MAX_PICTURE_BYTES
from tests.chat.webhooks.picture_server import HOST, PNG, Failing, codes, padded, scene_of, wanted
from tests.kit import hostile_pictures
from tests.kit.pictures import animation, decoded, encoded, noise, scene
from tests.kit.private_internet import answer, on_an_internet, opening, redirect
from tests.kit.wait import eventually


def test_images_in_each_format_are_re_encoded_at_their_original_size(tmp_path: Path) -> None:
    files = {format_: encoded(scene(640, 480), format_) for format_ in ("PNG", "JPEG", "WEBP", "GIF")}

    async def body() -> None:
        # The file name and the declared content type do not matter.
        pages = {f"/{name}.txt": answer(file, Content_Type="text/html") for name, file in files.items()}
        async with scene_of(pages, tmp_path) as on:
            collected = await on.collect(*(wanted(name, f"{HOST}/{name}.txt") for name in files))
            for name, file in files.items():
                shown = collected.pictures[name]
                assert shown.keys() == {"key", "content_type", "width", "height", "placeholder"}
                assert (shown["content_type"], shown["width"], shown["height"]) == ("image/webp", 640, 480)
                stored = await on.stored(shown)
                assert stored != file
                assert decoded(stored).size == (640, 480)
                kept = await on.media.find(str(shown["key"]))
                assert kept is not None
                assert kept.facts.bytes == len(stored)
            assert on.outcomes == {("ok",): 4}

    on_an_internet(body, tmp_path)


def test_an_avatar_is_scaled_down_and_a_cards_image_is_not(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(encoded(scene(1024, 512), "PNG"))}, tmp_path) as on:
            refs = wanted("avatar_url", f"{HOST}/a", avatar=True), wanted("cards[0].image_url", f"{HOST}/a")
            shown = (await on.collect(*refs)).pictures
            sizes = {path: (picture["width"], picture["height"]) for path, picture in shown.items()}
            assert sizes == {"avatar_url": (256, 128), "cards[0].image_url": (1024, 512)}
            assert on.host.paths == ["/a"]

    on_an_internet(body, tmp_path)


def test_a_small_avatar_is_not_scaled_up(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(PNG)}, tmp_path) as on:
            shown = (await on.collect(wanted("a", avatar=True))).pictures["a"]
            assert (shown["width"], shown["height"]) == (64, 48)

    on_an_internet(body, tmp_path)


def test_an_animation_stays_animated_on_a_card_but_not_as_an_avatar(tmp_path: Path) -> None:
    pages = {f"/{name}": answer(animation(5, name)) for name in ("GIF", "WEBP", "PNG")}

    async def body() -> None:
        async with scene_of(pages, tmp_path) as on:
            cards = [wanted(f"card{page}", f"{HOST}{page}") for page in pages]
            avatars = [wanted(f"avatar{page}", f"{HOST}{page}", avatar=True) for page in pages]
            shown = (await on.collect(*cards, *avatars)).pictures
            frames = {
                path: getattr(decoded(await on.stored(picture)), "n_frames", 1)
                for path, picture in shown.items()
            }
            assert frames == {f"card{page}": 5 for page in pages} | {f"avatar{page}": 1 for page in pages}

    on_an_internet(body, tmp_path)


def test_the_same_url_is_downloaded_once_and_stored_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(PNG)}, tmp_path) as on:
            refs = [wanted(f"cards[{at}].image_url", f"{HOST}/a") for at in range(10)]
            collected = await on.collect(*refs)
            assert len({str(picture["key"]) for picture in collected.pictures.values()}) == 1
            assert len(collected.pictures) == 10
            assert on.host.paths == ["/a"]

    on_an_internet(body, tmp_path)


def test_an_image_may_be_too_large_for_an_avatar_but_not_for_a_card(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(padded(MAX_ICON_BYTES + 1))}, tmp_path) as on:
            icon, image = (
                wanted("icon", f"{HOST}/a", max_bytes=MAX_ICON_BYTES),
                wanted("image", f"{HOST}/a"),
            )
            collected = await on.collect(icon, image)
            assert codes(collected) == {"icon": "too_large"}
            assert collected.pictures.keys() == {"image"}
            assert on.host.paths == ["/a"]

    on_an_internet(body, tmp_path)


def test_without_images_nothing_is_fetched(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({}, tmp_path) as on:
            collected = await on.collect()
            assert (collected.pictures, collected.warnings) == ({}, [])

    on_an_internet(body, tmp_path)


TOO_LONG = {f"/{at}": redirect(f"/{at + 1}") for at in range(6)} | {"/6": answer(PNG)}
LEFT_OUT: dict[str, tuple[str, bytes, str]] = {
    "a-private-address": ("http://127.0.0.1/a", b"", "blocked"),
    "a-name-of-a-private-address": ("http://private.example/a", b"", "blocked"),
    "a-redirect-to-a-private-address": ("", redirect("http://[::1]/"), "blocked"),
    "six-redirects": (f"{HOST}/0", b"", "blocked"),
    "no-such-host": ("http://nobody.example/a", b"", "fetch_failed"),
    "no-such-picture": ("", answer(b"", "404 Not Found"), "fetch_failed"),
    "a-host-that-fails": ("", answer(PNG, "503 Service Unavailable"), "fetch_failed"),
    "nothing": ("", answer(b""), "unsupported_type"),
    "a-page": ("", answer(b"<!doctype html>", Content_Type="image/png"), "unsupported_type"),
    "SVG": ("", answer(hostile_pictures.SVG, Content_Type="image/svg+xml"), "unsupported_type"),
    "AVIF": ("", answer(encoded(scene(), "AVIF")), "unsupported_type"),
    "half-a-picture": ("", answer(encoded(noise(64, 64), "PNG")[:6000]), "invalid_image"),
    "a-page-that-begins-like-a-picture": ("", answer(b"GIF89a<script>"), "invalid_image"),
    "compressed": ("", answer(gzip.compress(PNG), Content_Encoding="gzip"), "fetch_failed"),
}


def test_an_invalid_image_causes_a_warning_and_the_other_images_stay(tmp_path: Path) -> None:
    own = {f"/{name}": response for name, (_, response, _) in LEFT_OUT.items()}
    expected = {name: code for name, (_, _, code) in LEFT_OUT.items()}

    async def body() -> None:
        async with scene_of({**TOO_LONG, **own, "/good": answer(PNG)}, tmp_path) as on:
            refs = [wanted(name, url) for name, (url, _, _) in LEFT_OUT.items()]
            collected = await on.collect(*refs, wanted("good"))
            assert codes(collected) == expected
            assert collected.pictures.keys() == {"good"}
            assert on.outcomes == Counter((code,) for code in ["ok", *expected.values()])

    on_an_internet(body, tmp_path)


def test_hostile_images_cause_warnings_and_the_other_images_stay(tmp_path: Path) -> None:
    hostile = {name: file for name, (file, _) in hostile_pictures.refused().items() if name != SLOWEST}
    pages = {f"/{at}": answer(file) for at, file in enumerate(hostile.values())}

    async def body() -> None:
        async with scene_of({**pages, "/good": answer(PNG)}, tmp_path) as on:
            refs = [wanted(name, f"{HOST}/{at}") for at, name in enumerate(hostile)]
            collected = await on.collect(*refs, wanted("good"))
            # No file is too large in this test, however many pixels it claims to have.
            assert set(codes(collected).values()) == {"unsupported_type", "invalid_image"}
            assert collected.pictures.keys() == {"good"}

    on_an_internet(body, tmp_path)


SLOWEST = "jpeg with ten thousand scans"


def test_an_image_that_takes_too_long_to_decode_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "DECODE_DEADLINE_S", 0.5)
    slow, _ = hostile_pictures.refused()[SLOWEST]

    async def body() -> None:
        async with scene_of({"/slow": answer(slow), "/good": answer(PNG)}, tmp_path) as on:
            collected = await on.collect(wanted("slow"), wanted("good"))
            assert codes(collected) == {"slow": "invalid_image"}

    on_an_internet(body, tmp_path)


def test_a_polyglot_file_is_stored_only_as_an_image(tmp_path: Path) -> None:
    files = {
        f"/{at}": file for at, file in enumerate(hostile_pictures.harmless().values()) if len(file) < 10_000
    }
    pages = {path: answer(file, Content_Type="text/html") for path, file in files.items()}

    async def body() -> None:
        async with scene_of(pages, tmp_path) as on:
            collected = await on.collect(*(wanted(path[1:]) for path in files))
            assert len(collected.pictures) == len(files)
            for shown in collected.pictures.values():
                stored = await on.stored(shown)
                assert kind_of(stored[:16]) == "WEBP"
                assert b"<script" not in stored
                assert b"PK\x03\x04" not in stored

    on_an_internet(body, tmp_path)


def test_a_failing_store_causes_a_warning(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(PNG), "/b": answer(PNG)}, tmp_path, Failing(tmp_path)) as on:
            assert codes(await on.collect(wanted("a"), wanted("b"))) == {
                "a": "store_failed",
                "b": "store_failed",
            }

    on_an_internet(body, tmp_path)


def test_a_server_without_a_store_downloads_nothing(tmp_path: Path) -> None:
    async def body() -> None:
        async with scene_of({"/a": answer(PNG)}, tmp_path, storing=False) as on:
            assert codes(await on.collect(wanted("a"))) == {"a": "store_failed"}
            assert on.host.connections == 0

    on_an_internet(body, tmp_path)


def test_a_decoder_that_cannot_be_started_causes_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.base.sandbox.sys.executable", "/nowhere/python")

    async def body() -> None:
        async with scene_of({"/a": answer(PNG)}, tmp_path) as on:
            assert codes(await on.collect(wanted("a"))) == {"a": "store_failed"}

    on_an_internet(body, tmp_path)


def test_cancelling_a_post_cancels_its_downloads(tmp_path: Path) -> None:
    async def never(writer: asyncio.StreamWriter) -> None:
        writer.write(opening() + bytes(1000))
        await writer.drain()
        await asyncio.sleep(60)

    async def body() -> None:
        async with scene_of({"/a": never}, tmp_path) as on:
            collecting = asyncio.create_task(on.pictures.collect([wanted("a")]))
            await eventually("some of it arrives", lambda: on.pictures.memory.taken, within_s=10)
            collecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await collecting
            assert on.pictures.memory.taken == 0

    on_an_internet(body, tmp_path)


def test_an_eight_megabyte_photo_keeps_its_dimensions(tmp_path: Path) -> None:
    photo = encoded(noise(3000, 2000), "JPEG", quality=90)
    assert len(photo) < MAX_PICTURE_BYTES

    async def body() -> None:
        async with scene_of({"/a": answer(photo)}, tmp_path) as on:
            shown = (await on.collect(wanted("a"))).pictures["a"]
            assert (shown["width"], shown["height"]) == (3000, 2000)

    on_an_internet(body, tmp_path)
