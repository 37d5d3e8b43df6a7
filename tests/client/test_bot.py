"""Tests a Python bot on a running server: missed events, rate limits, files, voice channels, and shutdown."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from svc.chat.access import rate_limits
from svc.client import Bot, Message, Refused
from tests.chat.chat_server import chat_server
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.chat.uploads.upload_helpers import PNG, UploadServer
from tests.kit.severable_proxy import severable_proxy
from tests.kit.wait import eventually

GENERAL = "/api/channels/general/messages"
DEADLINE_S = 30.0


@dataclass
class Heard:
    """The messages that a bot has received."""

    waiting: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)

    async def message(self) -> Message:
        async with asyncio.timeout(DEADLINE_S):
            return await self.waiting.get()

    async def texts(self, count: int) -> list[str]:
        return [(await self.message()).text for _ in range(count)]


async def account(members: MembersByRole) -> HttpMember:
    made = await members.owner.done("POST", "/api/bots", {"nickname": "Helper"})
    return HttpMember(members.chat, members.owner.device, made["member"]["id"], made["token"])


@asynccontextmanager
async def running(bot: Bot) -> AsyncIterator[Heard]:
    """Run the bot while the block runs. The block starts once the bot is signed in and listening."""
    received, ready = Heard(), asyncio.Event()

    @bot.on("authenticated")
    async def signed_in(_: object) -> None:
        ready.set()

    bot.on_message(received.waiting.put)
    task = asyncio.create_task(bot.run())
    try:
        async with asyncio.timeout(DEADLINE_S):
            await ready.wait()
        yield received
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ended(task: asyncio.Task[None]) -> Refused:
    with pytest.raises(Refused) as refused:
        async with asyncio.timeout(DEADLINE_S):
            await task
    return refused.value


async def test_missed_messages_that_the_server_no_longer_buffers_are_read_from_history(
    variables: dict[str, str],
) -> None:
    async with severable_proxy("") as proxy, AsyncExitStack() as stack:
        async with chat_server(variables) as chat:
            members = await members_by_role(chat)
            helper = await account(members)
            root = await members.member.done("POST", GENERAL, {"text": "root"})
            await helper.done("POST", GENERAL, {"text": "I follow this", "thread": root["id"]})
            proxy.server = chat.address
            received = await stack.enter_async_context(running(Bot(proxy.url, helper.token)))
            await members.member.done("POST", GENERAL, {"text": "seen"})
            assert await received.texts(1) == ["seen"]
            proxy.refusing = True
            await proxy.drop()
            await members.member.done("POST", GENERAL, {"text": "unseen"})
        # A server forgets the events that it has sent when it stops.
        async with chat_server(variables) as chat:
            members.member.chat = chat
            texts = [f"missed {number}" for number in range(120)]
            for text in texts:
                await members.member.done("POST", GENERAL, {"text": text})
            await members.member.done("POST", GENERAL, {"text": "aside", "thread": root["id"]})
            proxy.server, proxy.refusing = chat.address, False
            assert await received.texts(122) == ["unseen", *texts, "aside"]
            await members.member.done("POST", GENERAL, {"text": "now"})
            assert await received.texts(1) == ["now"]


async def test_a_lost_connection_is_resumed(members: MembersByRole) -> None:
    helper = await account(members)
    async with severable_proxy(members.chat.address) as proxy:
        bot, welcomes = Bot(proxy.url, helper.token), list[object]()

        @bot.on("authenticated")
        async def welcomed(state: object) -> None:
            welcomes.append(state)

        async with running(bot) as received:
            for number in range(3):
                await proxy.drop()
                await members.member.done("POST", GENERAL, {"text": str(number)})
                assert await received.texts(1) == [str(number)]
        assert (len(welcomes), proxy.drops) == (1, 3)


async def test_requests_beyond_the_rate_limit_wait_and_are_executed_once(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = await account(members)
    monkeypatch.setattr(rate_limits, "REQUEST_BURST", 2)
    monkeypatch.setattr(rate_limits, "REQUESTS_PER_S", 50.0)
    bot = Bot(members.chat.address, helper.token)
    async with members.live("member") as [member], running(bot):
        sending = [asyncio.create_task(bot.send("general", str(number))) for number in range(30)]
        sent = await asyncio.gather(*sending)
        posted = {(await member.pushed("message_posted"))["text"] for _ in sending}
    assert posted == {message.text for message in sent} == {str(number) for number in range(30)}


async def test_a_bot_can_post_edit_react_and_delete(members: MembersByRole) -> None:
    bot = Bot(members.chat.address, (await account(members)).token, prefix="?")
    root = await members.member.done("POST", GENERAL, {"text": "root"})
    called: asyncio.Queue[str] = asyncio.Queue()

    @bot.command("Do")
    async def do(message: Message, words: str) -> None:
        called.put_nowait(words)
        answer = await bot.edit(await bot.reply(message, "first"), "second")
        assert (answer.text, answer.reply_to, answer.thread) == ("second", message.id, message.thread)
        await bot.react(message, "👍")
        await bot.unreact(message, "👍")
        await bot.delete(answer)

    async with members.live("member") as [member], running(bot):
        await members.member.done("POST", GENERAL, {"text": "?do  this and that ", "thread": root["id"]})
        assert await asyncio.wait_for(called.get(), DEADLINE_S) == "this and that"
        assert [(await member.pushed("reactions_changed"))["added"] for _ in range(2)] == [True, False]
        await member.pushed("message_deleted")


async def test_a_failing_handler_and_unknown_commands_do_not_affect_the_bot(
    members: MembersByRole, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Bot(members.chat.address, (await account(members)).token)
    other = await account(members)

    @bot.command("fail")
    async def fail(message: Message, words: str) -> None:
        raise ZeroDivisionError(message.author.display_name)

    async with running(bot) as received:
        await other.done("POST", GENERAL, {"text": "!fail"})
        await members.member.done("POST", GENERAL, {"text": "!fail now"})
        await members.member.done("POST", GENERAL, {"text": "!unknown"})
        assert await received.texts(3) == ["!fail", "!fail now", "!unknown"]
    assert caplog.text.count("a handler failed") == 1
    assert "ZeroDivisionError: Member" in caplog.text


async def test_the_bot_knows_voice_participants_and_channels(members: MembersByRole, sfu: FakeSfu) -> None:
    await sfu.until("sync_request")
    bot = Bot(members.chat.address, (await account(members)).token)
    changed: asyncio.Queue[str] = asyncio.Queue()

    async def after(event: str) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while await changed.get() != event:
                pass

    for event in ("voice_joined", "voice_updated", "voice_left", "channel_created", "channel_deleted"):

        @bot.on(event)
        async def note(_: object, event: str = event) -> None:
            changed.put_nowait(event)

    async with members.live("member") as [member], running(bot):
        assert (bot.member.nickname, dict(bot.voice)) == ("Helper", {})
        await member.ask("voice_join", channel_id="lobby")
        await sfu.send_event("peer_joined", "lobby", members.member.id)
        await after("voice_joined")
        assert [person.nickname for person in bot.voice["lobby"]] == ["Member"]
        await member.ask("voice_mute_self", muted=True)
        await after("voice_updated")
        assert bot.voice["lobby"][0].self_muted
        await sfu.send_event("peer_left", "lobby", members.member.id)
        await after("voice_left")
        assert dict(bot.voice) == {}
        made = await members.owner.done("POST", "/api/channels", {"name": "News", "type": "text"})
        await after("channel_created")
        assert bot.channels[made["id"]].name == "News"
        await members.owner.done("DELETE", f"/api/channels/{made['id']}")
        await after("channel_deleted")
        assert made["id"] not in bot.channels


async def test_a_file_is_posted_once_the_server_has_checked_it(
    variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "naïve.png").write_bytes(PNG)
    async with server_with_insight(variables) as (chat, community):
        server = UploadServer(chat, community, await members_by_role(chat), variables)
        bot = Bot(chat.address, (await account(server.members)).token)
        async with running(bot):
            uploading = asyncio.create_task(bot.upload("general", tmp_path / "naïve.png"))
            queue = community.files.queue
            await eventually("the file is queued for the worker", lambda: queue.waiting, within_s=DEADLINE_S)
            await server.work()
            sent = await bot.send("general", "", attachments=[await uploading])
            [attached] = sent.attachments
            assert (attached.name, attached.kind) == ("naïve.webp", "picture")
            with pytest.raises(Refused, match="unknown_channel"):
                await bot.upload("nowhere", b"text", "notes.txt")


@pytest.mark.parametrize("how", ["deleted", "another token"])
async def test_the_bot_stops_when_the_server_removes_it(members: MembersByRole, how: str) -> None:
    helper = await account(members)
    bot, ready = Bot(members.chat.address, helper.token), asyncio.Event()

    @bot.on("authenticated")
    async def signed_in(_: object) -> None:
        ready.set()

    task = asyncio.create_task(bot.run())
    await asyncio.wait_for(ready.wait(), DEADLINE_S)
    if how == "deleted":
        await members.owner.done("DELETE", f"/api/bots/{helper.id}")
    else:
        await members.owner.done("POST", f"/api/bots/{helper.id}/token")
    assert (await ended(task)).code == "token_invalid"


async def test_a_wrong_token_is_rejected_immediately(members: MembersByRole) -> None:
    task = asyncio.create_task(Bot(members.chat.address, "svcbot.x").run())
    assert (await ended(task)).code == "token_invalid"


async def test_the_bot_sends_its_token_before_it_signs_in() -> None:
    shown = asyncio.get_running_loop().create_future()

    async def live(request: web.Request) -> web.Response:
        if not shown.done():
            shown.set_result(request.headers["Authorization"])
        return web.Response(status=503)

    app = web.Application()
    app.router.add_get("/live", live)
    async with TestServer(app) as server:
        task = asyncio.create_task(Bot(str(server.make_url("")), "svcbot.x").run())
        assert await asyncio.wait_for(shown, DEADLINE_S) == "Bearer svcbot.x"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_requests_made_before_the_bot_is_running_are_rejected() -> None:
    with pytest.raises(RuntimeError):
        _ = Bot("http://127.0.0.1", "svcbot.x").member


def test_the_client_imports_only_aiohttp() -> None:
    heavy = ("aiosqlite", "av", "cryptography", "jwt", "OpenSSL", "orjson", "PIL", "pylibsrtp")
    ours = ("svc.chat", "svc.sfu", "svc.worker", "svc.tools", "svc._rtp")
    program = "import sys; import svc.client; print(*sys.modules)"
    ran = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "svc.client.bot" in loaded
    assert [name for name in loaded if name.partition(".")[0] in heavy or name.startswith(ours)] == []
