"""Files posted to the Discord endpoint are either attached to the message or listed as omitted."""

import json
import time
from typing import Any

import pytest
from aiohttp import FormData

from svc.chat.media.sweep import Sweep
from svc.chat.uploads.file_names import readable_file_name
from svc.chat.webhooks import publisher
from svc.chat.webhooks.pictures import MAX_FILES
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.pictures import SECRET, decoded, encoded, noise, scene

# the start of an MP4 file
FILM = b"\x00\x00\x00\x18ftypmp42" + bytes(24)


async def post(hook: Hook, body: dict[str, object], *files: tuple[str, bytes]) -> tuple[Any, Any]:
    """Post files. Return the response and the message as readers receive it."""
    form = FormData(quote_fields=False, default_to_multipart=True)
    form.add_field("payload_json", json.dumps(body), content_type="application/json")
    for index, (name, data) in enumerate(files):
        form.add_field(f"files[{index}]", data, filename=name)
    async with hook.chat.http.post(f"{hook.path}/discord?wait=true", data=form) as response:
        response_body = await response.json()
        assert response.status == 200, response_body
    return response_body, await hook.arrived()


async def content(hook: Hook, file: Any) -> tuple[bytes, str, str]:
    async with hook.chat.http.get(file["url"]) as response:
        headers = response.headers
        return await response.read(), response.content_type, headers.get("Content-Disposition", "")


async def test_images_are_re_encoded_and_other_files_are_stored_unchanged(hook: Hook) -> None:
    sent = encoded(scene(800, 600), "JPEG", comment=SECRET)
    body, message = await post(hook, {"content": "Look"}, ("graph.jpg", sent), ("log.txt", b"a\r\nlog"))
    assert (message["text"], body["warnings"]) == ("Look", [])
    graph, log = message["attachments"]
    assert (graph["name"], graph["kind"], graph["width"], graph["height"]) == (
        "graph.webp",
        "picture",
        800,
        600,
    )
    data, content_type, _ = await content(hook, graph)
    assert (content_type, decoded(data).size, SECRET in data) == ("image/webp", (800, 600), False)
    assert decoded((await content(hook, graph["thumbnail"]))[0]).size == (400, 300)
    assert (log["name"], log["kind"], log["bytes"]) == ("log.txt", "file", 6)
    data, content_type, disposition = await content(hook, log)
    assert (data, content_type) == (b"a\r\nlog", "application/octet-stream")
    assert disposition.startswith("attachment")
    assert [(file["filename"], file["size"]) for file in body["attachments"]] == [
        ("graph.webp", graph["bytes"]),
        ("log.txt", 6),
    ]


async def test_a_file_without_text_is_posted_as_a_message(hook: Hook) -> None:
    _, message = await post(hook, {"username": "Robot"}, ("../notes\u202e.txt", b"x"))
    assert (message["text"], message["author"]["display_name"]) == ("", "Robot")
    assert [file["name"] for file in message["attachments"]] == ["notes.txt"]


async def test_files_that_are_not_accepted_are_omitted_and_named_in_the_message(hook: Hook) -> None:
    broken = encoded(noise(64, 64), "PNG")[:200]
    body, message = await post(
        hook, {}, ("a*b.mp4", FILM), ("broken.png", broken), ("empty.txt", b""), ("log.txt", b"a log")
    )
    assert message["text"] == r"(left out: a\*b.mp4, broken.png, empty.txt)"
    assert [file["name"] for file in message["attachments"]] == ["log.txt"]
    assert [(warning["path"], warning["code"]) for warning in body["warnings"]] == [
        ("files[0]", "unsupported_type"),
        ("files[1]", "invalid_image"),
        ("files[2]", "unsupported_type"),
    ]
    _, message = await post(hook, {"content": "Many"}, *((f"{at}.txt", b"x") for at in range(MAX_FILES + 1)))
    assert len(message["attachments"]) == MAX_FILES
    assert message["text"] == f"Many\n(left out: {MAX_FILES}.txt)"


async def test_the_operator_determines_which_files_are_stored_unchanged(variables: dict[str, str]) -> None:
    sent = ("a.zip", b"PK"), ("a.txt", b"x"), ("seal.bin", encoded(scene(), "PNG"))
    for setting, left_out, taken in (
        ({"SVC_FILE_EXTENSIONS": "txt"}, "a.zip", ["a.txt", "seal.webp"]),
        ({"SVC_FILE_MAX_MB": "0"}, "a.zip, a.txt", ["seal.webp"]),
        ({"DISABLE_S3": "true"}, "a.zip, a.txt, seal.bin", []),
    ):
        async with (
            chat_server({**variables, "DATA_DIR": variables["DATA_DIR"] + left_out, **setting}) as chat,
            hook_of(await newcomer(chat, "Owner")) as hook,
        ):
            _, message = await post(hook, {}, *sent)
        assert message["text"] == f"(left out: {left_out})"
        assert [file["name"] for file in message["attachments"]] == taken


async def test_deleting_a_message_deletes_its_files(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        hook_of(await newcomer(chat, "Owner")) as hook,
    ):
        picture = encoded(scene(800, 600), "PNG")
        _, message = await post(hook, {}, ("graph.png", picture), ("log.txt", b"a log"))
        # The sweep never deletes files that are less than a minute old.
        community.media._in_hand.clear()
        sweep = Sweep(community.media._database, community.media, 1000, 0, lambda: time.time() + 3600)
        assert await sweep.run_once() == 0
        await hook.reader.ask("message_delete", channel_id="general", message_id=message["id"])
        # The sweep deletes the image, its thumbnail and the log file.
        assert await sweep.run_once() == 3


async def test_no_more_file_names_are_examined_than_files_can_be_stored(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send many file names. They once blocked the event loop for 100 ms."""
    names: list[str] = []

    def readable(name: str) -> str:
        names.append(name)
        return readable_file_name(name)

    monkeypatch.setattr(publisher, "readable_file_name", readable)
    response, _ = await post(hook, {"content": "hi"}, *((f"{n}.txt", b"x") for n in range(3 * MAX_FILES)))
    assert len(response["attachments"]) == len(names) == MAX_FILES
