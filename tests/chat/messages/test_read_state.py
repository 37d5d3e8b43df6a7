"""Tests unread counts, mentions, search and presence over the live socket."""

import dataclasses
from typing import Any

import pytest

from svc.base.database import Connection
from svc.chat.access.directory import TEXT, Channel
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.community import Community
from svc.chat.messages import presence, search, search_store
from svc.chat.messages.presence import Presence
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.kit.device import Device
from tests.kit.wait import wait_until

AWAKE = {"idle": False, "do_not_disturb": False}


async def send(member: LiveMember, text: str, channel_id: str = "general") -> dict[str, Any]:
    frame = await member.ask("message_send", channel_id=channel_id, text=text)
    assert frame["event"] == "message_send", frame
    data: dict[str, Any] = frame["data"]
    return data


def counts(welcome: dict[str, Any], channel_id: str = "general") -> tuple[int, int]:
    (channel_counts,) = [counts for counts in welcome["unread"] if counts["channel_id"] == channel_id]
    return channel_counts["unread"], channel_counts["mentions"]


async def ids_found(member: LiveMember, query: str) -> list[str]:
    frame = await member.ask("search", query=query)
    assert frame["event"] == "search", frame
    return [message["text"] for message in frame["data"]["messages"]]


async def until_found(member: LiveMember, query: str, texts: list[str]) -> None:
    async def is_found() -> bool:
        return await ids_found(member, query) == texts

    await wait_until(f"{query} finds {texts}", is_found, within_s=10)


async def test_unread_messages_and_mentions_are_counted_and_can_be_marked_as_read(chat: ChatServer) -> None:
    token = await chat.join("Ben")
    async with chat.member("Ben", token) as ben:
        ben_id = ben.id
    async with chat.member("Ada") as ada:
        first, _, third = [await send(ada, text) for text in ("one", f"[Ben](mention:{ben_id})", "three")]
        async with chat.member("Ben", token) as ben, chat.member("Ben", token) as other_page:
            assert counts(ben.welcome) == (3, 1)
            read = (await ben.ask("read", channel_id="general", message_id=first["id"]))["data"]
            assert (read["unread"], read["mentions"]) == (2, 1)
            assert await other_page.pushed("unread") == read
            read = (await ben.ask("read", channel_id="general", message_id=third["id"]))["data"]
            assert (read["unread"], read["mentions"]) == (0, 0)
            back = (await ben.ask("read", channel_id="general", message_id=first["id"]))["data"]
            assert back == read  # Reading moves the read marker only forward.
            which = {"channel_id": "general", "message_id": first["id"]}
            for _ in range(2):  # Only marking messages as unread moves the read marker back.
                again = (await ben.ask("read", **which, back=True))["data"]
                assert (again["unread"], again["mentions"]) == (3, 1)
                assert again["read_up_to"] < first["id"]
            assert (await ben.ask("read", **which, back=True, thread=first["id"]))["data"][
                "error"
            ] == "invalid_request"
        async with chat.member("Ben", token) as ben:
            assert counts(ben.welcome) == (3, 1)
            await ben.ask("read", channel_id="general", message_id=third["id"])
            await send(ada, "four")
        async with chat.member("Ben", token) as ben:
            assert counts(ben.welcome) == (1, 0)
            await send(ben, "five")
        async with chat.member("Ben", token) as ben:
            assert counts(ben.welcome) == (0, 0)


async def test_messages_from_before_a_member_joined_are_not_unread(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await send(ada, "early")
        async with chat.member("Ben") as ben:
            assert counts(ben.welcome) == (0, 0)


async def test_mentions_by_blocked_members_do_not_count(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, _):
        token = await chat.join("Ben")
        async with chat.member("Ben", token) as ben, chat.member("Ada") as ada:
            headers = {"Authorization": f"Bearer {token}"}
            async with chat.http.put(f"/api/me/blocks/{ada.id}", headers=headers) as response:
                assert response.status < 300
            sent = await send(ada, f"[Ben](mention:{ben.id})")
            assert (await ben.pushed("message_posted"))["id"] == sent["id"]
        async with chat.member("Ben", token) as ben:
            assert counts(ben.welcome) == (1, 0)


async def test_messages_can_be_searched_by_words_and_filters(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada:
        await send(owner, "Green apples, https://example.org/tree")
        pear = await send(ada, "Green pears")
        await send(ada, "Café au lait")
        await until_found(ada, "green", ["Green pears", "Green apples, https://example.org/tree"])
        assert await ids_found(ada, '"green pears"') == ["Green pears"]
        assert await ids_found(ada, "green from:ada") == ["Green pears"]
        assert await ids_found(ada, f"from:{owner.id}") == ["Green apples, https://example.org/tree"]
        assert await ids_found(ada, "has:link in:general") == ["Green apples, https://example.org/tree"]
        assert await ids_found(ada, "green before:2020-01-01") == []
        assert len(await ids_found(ada, "after:2020-01-01")) == 3
        assert await ids_found(ada, "cafe") == ["Café au lait"]
        assert await ids_found(ada, "from:nobody") == []
        for query, code in (("in:nowhere x", "unknown_channel"), ("has:x", "invalid_query")):
            assert (await ada.ask("search", query=query))["data"]["error"] == code
        which = {"channel_id": "general", "message_id": pear["id"]}
        await owner.ask("pin_add", **which)
        await ada.ask("reaction_add", **which, emoji="🍐")
        await until_found(ada, "has:pin has:reaction", ["Green pears"])
        await ada.ask("message_edit", **which, text="Yellow quinces")
        await until_found(ada, "quinces has:pin", ["Yellow quinces"])
        await until_found(ada, "pears", [])
        await ada.ask("message_delete", **which)
        await until_found(ada, "quinces", [])


async def test_the_last_word_of_a_search_may_be_incomplete_and_words_can_be_excluded(
    chat: ChatServer,
) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        for text in ("hello world", "help yourself", "東京都に住む"):
            await send(ada, text)
        await send(ben, "hello again")
        await until_found(ada, "hel", ["hello again", "help yourself", "hello world"])
        assert await ids_found(ada, "hel world") == []
        assert await ids_found(ada, "hel -world") == ["hello again", "help yourself"]
        assert await ids_found(ada, "hel -from:Ada") == ["hello again"]
        assert await ids_found(ada, "-hello -help") == ["東京都に住む"]
        assert await ids_found(ada, "-in:general hel") == []
        assert await ids_found(ada, "京都") == ["東京都に住む"]
        assert (await ada.ask("search", query="x -in:nowhere"))["data"]["error"] == "unknown_channel"


async def test_a_prefix_shared_by_too_many_words_matches_only_the_exact_word(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat.member("Ada") as ada:
        for text in ("hello", "help", "hel", "apples", "app"):
            await send(ada, text)
        await until_found(ada, "app", ["app", "apples"])
        monkeypatch.setattr(search_store, "MAX_WORDS", 2)
        assert await ids_found(ada, "hel") == ["hel"]
        assert await ids_found(ada, "app") == ["app", "apples"]
        monkeypatch.setattr(search_store, "MAX_ENTRIES", 1)
        assert await ids_found(ada, "app") == ["app"]


async def test_history_can_be_read_from_a_given_time(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community), chat.member("Ada") as ada:
        sent = [await send(ada, str(number)) for number in range(5)]

        async def at(moment_ms: int, **more: object) -> list[str]:
            page = (await ada.ask("history", channel_id="general", at_ms=moment_ms, **more))["data"]
            return [message["text"] for message in page["messages"]]

        everything = ["0", "1", "2", "3", "4"]
        assert await at(0, limit=1) == ["0"]
        assert await at(sent[-1]["posted_at_ms"] + 1, limit=2) == ["3", "4"]
        assert await at(sent[2]["posted_at_ms"]) == everything
        # The last message has a time in the future, because the clock was ahead when it was posted.
        later_ms = sent[-1]["posted_at_ms"] + 60_000

        def correct(connection: Connection) -> None:
            connection.execute("UPDATE messages SET posted_at_ms = 1000 WHERE text < '3'")
            connection.execute("UPDATE messages SET posted_at_ms = 2000 WHERE text = '3'")
            connection.execute("UPDATE messages SET posted_at_ms = ? WHERE text = '4'", (later_ms,))

        await community.messages.history._database.write(correct)
        assert await at(1_001, limit=2) == ["2", "3"]
        assert await at(2_001, limit=1) == ["4"]
        both = await ada.ask("history", channel_id="general", at_ms=1, before=sent[0]["id"])
        assert both["data"]["error"] == "invalid_request"
        path = "/api/channels/general/messages?at_ms=2000&limit=1"
        headers = {"Authorization": f"Bearer {await chat.join('Ben')}"}
        async with chat.http.get(path, headers=headers) as response:
            assert [message["text"] for message in (await response.json())["messages"]] == ["3"]
        async with chat.http.get(path.replace("2000", "x"), headers=headers) as response:
            assert (await response.json())["error"] == "invalid_request"


async def test_search_results_are_paginated_without_gaps(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        for number in range(5):
            await send(ada, f"apple {number}")
        await until_found(ada, "apple", [f"apple {number}" for number in (4, 3, 2, 1, 0)])
        first = (await ada.ask("search", query="apple", limit=3))["data"]
        last_id = first["messages"][-1]["id"]
        second = (await ada.ask("search", query="apple", limit=3, before=last_id))["data"]
        assert (first["more"], second["more"]) == (True, False)
        assert [message["text"] for message in second["messages"]] == ["apple 1", "apple 0"]


def hide(community: Community, member_id: str) -> None:
    overrides = Overrides(members={member_id: Override(deny=Permission.VIEW_CHANNEL)})
    community.directory.put_channel(Channel("secret", "secret", TEXT, overrides=overrides))


async def test_an_invisible_channel_and_its_messages_are_not_found(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Olga") as owner,
        chat.member("Ada") as ada,
    ):
        hide(community, ada.id)
        sent = await send(owner, f"A secret for [Ada](mention:{ada.id})", "secret")
        assert sent["mentions"] == []
        which = {"channel_id": "secret", "message_id": sent["id"]}
        for event, data in [
            ("message_send", {"channel_id": "secret", "text": "x"}),
            ("message_edit", {**which, "text": "x"}),
            *(
                (event, which)
                for event in ("message_delete", "message_edits", "pin_add", "pin_remove", "read")
            ),
            *((event, {**which, "emoji": "👍"}) for event in ("reaction_add", "reaction_remove")),
            *((event, {"channel_id": "secret"}) for event in ("pins", "typing", "history")),
            ("search", {"query": "in:secret"}),
        ]:
            frame = await ada.ask(event, **data)
            assert frame["data"].get("error") == "unknown_channel", event
            elsewhere = await ada.ask(event, **{**data, "channel_id": "nowhere", "query": "in:nowhere"})
            assert frame["data"] == elsewhere["data"], event
        await until_found(owner, "secret", [sent["text"]])
        assert await ids_found(ada, "secret") == []
        await send(owner, "for all")
        await ada.ask("ping")
        assert ada.kept_events().count("message_posted") == 1


async def test_profanity_is_handled_according_to_the_owners_setting(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, _),
        chat.member("Olga") as owner,
    ):
        sent = await send(owner, "Oh shit")
        assert not sent["flagged"]
        for mode, text, flagged in [("flag", "Oh shit", True), ("censor", "Oh ****", True)]:
            await owner.ask("settings_change", profanityMode=mode)
            sent = await send(owner, "Oh shit")
            assert (sent["text"], sent["flagged"]) == (text, flagged)
        await owner.ask("settings_change", profanityMode="block")
        for event, more in [("message_send", {}), ("message_edit", {"message_id": sent["id"]})]:
            frame = await owner.ask(event, channel_id="general", text="Oh shit", **more)
            assert frame["data"]["error"] == "profanity_refused"


async def test_slow_mode_reports_the_remaining_wait_and_permits_retried_requests(
    variables: dict[str, str],
) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Olga"),
        chat.member("Ada") as ada,
    ):
        channel = community.directory.channels["general"]
        community.directory.put_channel(dataclasses.replace(channel, slow_mode_s=3600))
        first = await ada.ask("message_send", channel_id="general", text="One", nonce="n")
        refused = (await ada.ask("message_send", channel_id="general", text="Two"))["data"]
        assert refused["error"] == "slow_mode" and 0 < refused["retry_after_ms"] <= 3_600_001
        again = await ada.ask("message_send", channel_id="general", text="One", nonce="n")
        assert again["data"] == first["data"]


async def test_presence_is_pushed_after_a_short_delay(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server_with_insight(variables) as (chat, community):
        monkeypatch.setattr(presence, "GRACE_S", 0.05)
        token = await chat.join("Ben")
        async with chat.member("Ada") as ada:
            async with chat.member("Ben", token) as ben:
                assert await ada.pushed("presence") == {"member_id": ben.id, "online": True, **AWAKE}
                assert set(ben.welcome["online"]) == {ada.id, ben.id}
            assert await ada.pushed("presence") == {"member_id": ben.id, "online": False, **AWAKE}
        assert isinstance(community.messages.presence, Presence)


async def test_reloading_a_page_does_not_change_presence(chat: ChatServer) -> None:
    token = await chat.join("Ben")
    async with chat.member("Ada") as ada:
        for _ in range(3):
            async with chat.member("Ben", token) as ben:
                await send(ben, "here")
        await ada.ask("ping")
        assert ada.kept_events().count("message_posted") == 3
        assert ada.kept_events().count("presence") == 1


async def test_names_are_checked_for_profanity(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, _),
        chat.member("Olga") as owner,
        chat.member("Ada") as ada,
    ):
        await owner.ask("settings_change", profanityMode="block")
        headers = {"Authorization": f"Bearer {ada.token}"}
        renaming = chat.http.patch(f"/api/members/{ada.id}", headers=headers, json={"nickname": "Sh1t"})
        async with renaming as response:
            assert (await response.json())["error"] == "profanity_refused"
        proof = await (device := Device()).proof(chat.http, chat.address)
        joining = {**proof, "nickname": "$hit", "invite_code": chat.invite}
        async with chat.http.post("/api/auth/join", json=joining) as response:
            assert (await response.json())["error"] == "profanity_refused"
        await owner.ask("settings_change", profanityMode="censor")
        signed_in = await chat.sign_in(device, nickname="Shit", invite_code=chat.invite)
        assert signed_in["member"]["nickname"] == "****"


async def test_a_search_finds_a_message_that_was_just_posted(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_PAUSE_S", 3600)
    async with server_with_insight(variables) as (chat, community), chat.member("Olga") as owner:
        for number in range(3):
            await send(owner, f"brief {number}")
            await community.messages.indexer.wait_indexed()
            assert len(await ids_found(owner, "brief")) == number + 1


async def test_deleting_a_channel_deletes_its_messages(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community), chat.member("Olga") as owner:
        headers = {"Authorization": f"Bearer {owner.token}"}
        async with chat.http.post(
            "/api/channels", headers=headers, json={"name": "brief", "type": "text"}
        ) as response:
            channel_id = (await response.json())["id"]
        for number in range(3):
            await send(owner, f"brief {number}", channel_id)
        await send(owner, "brief and lasting")
        await community.messages.indexer.wait_indexed()
        async with chat.http.delete(f"/api/channels/{channel_id}", headers=headers) as response:
            assert response.status < 300
        assert await ids_found(owner, "brief") == ["brief and lasting"]
        # The server cleans up at startup and periodically.
        await community.messages.indexer._tidy_up()
    async with server_with_insight(variables) as (_, community):
        left = await community.messages.history._database.rows("SELECT text FROM messages")
        assert [row["text"] for row in left] == ["brief and lasting"]
