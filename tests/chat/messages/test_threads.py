"""Tests threads over live sockets: their replies, followers, unread counts and deletion."""

from typing import Any

import pytest

from svc.chat.access.directory import TEXT, Channel
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.messages import unread_counts
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole
from tests.kit.wait import wait_until


async def request(member: LiveMember, event: str, **data: object) -> Any:
    frame = await member.ask(event, **data)
    assert frame["event"] == event, frame
    return frame["data"]


async def refused(member: LiveMember, event: str, **data: object) -> str:
    frame = await member.ask(event, **data)
    assert frame["event"] == "error", frame
    return str(frame["data"]["error"])


async def send(member: LiveMember, text: str, thread: str | None = None, **more: object) -> Any:
    return await request(member, "message_send", channel_id="general", text=text, thread=thread, **more)


async def texts(member: LiveMember, thread: str | None = None, **more: object) -> list[str]:
    page = await request(member, "history", channel_id="general", thread=thread, **more)
    return [message["text"] for message in page["messages"]]


def unread(welcome: dict[str, Any]) -> tuple[int, int]:
    (counts,) = [counts for counts in welcome["unread"] if counts["channel_id"] == "general"]
    return counts["unread"], counts["mentions"]


def own(welcome: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [(state["thread"], state["unread"], state["mentions"]) for state in welcome["threads"]]


async def test_replies_in_threads_are_not_part_of_the_channels_history(chat: ChatServer) -> None:
    token = await chat.join("Ben")
    async with chat.member("Ada") as ada:
        root, later = await send(ada, "cake?"), await send(ada, "news")
        first, second = await send(ada, "chocolate", root["id"]), await send(ada, "lemon", root["id"])
        assert (root["thread"], root["answers"], first["thread"]) == (None, None, root["id"])
        assert await texts(ada) == ["cake?", "news"]
        assert await texts(ada, root["id"]) == ["chocolate", "lemon"]
        assert await texts(ada, root["id"], limit=1) == ["lemon"]
        assert await texts(ada, root["id"], after=first["id"]) == ["lemon"]
        assert await texts(ada, root["id"], at_ms=0, limit=1) == ["chocolate"]
        assert await texts(ada, later["id"]) == []
        shown = (await request(ada, "history", channel_id="general"))["messages"][0]
        last = {"last_id": second["id"], "last_at_ms": second["posted_at_ms"]}
        assert shown["answers"] == {"count": 2, **last}
        async with chat.member("Ben", token) as ben:
            assert unread(ben.welcome) == (2, 0)
            read = await request(ben, "read", channel_id="general", message_id=second["id"])
            assert (read["unread"], read["last"] < first["id"]) == (0, True)


async def test_viewers_of_the_channel_are_notified_of_a_changed_thread(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        root = await send(ada, "cake?")
        answer = await send(ada, "chocolate", root["id"])
        await ben.pushed("message_posted")
        assert (await ben.pushed("message_posted"))["thread"] == root["id"]
        last = {"last_id": answer["id"], "last_at_ms": answer["posted_at_ms"]}
        which = {"channel_id": "general", "id": root["id"]}
        changed = await ben.pushed("thread_changed")
        assert {name: changed[name] for name in ("channel_id", "id", "answers")} == {
            **which,
            "answers": {"count": 1, **last},
        }
        await request(ada, "message_delete", channel_id="general", message_id=answer["id"])
        assert (await ben.pushed("message_deleted"))["thread"] == root["id"]
        assert (await ben.pushed("thread_changed"))["answers"] is None
        assert (await request(ada, "history", channel_id="general"))["messages"][0]["answers"] is None


async def test_participants_in_a_thread_follow_it_automatically_and_are_notified(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, _):
        tokens = [await chat.join(name) for name in ("Ada", "Ben", "Cleo", "Dan")]
        async with chat.member("", tokens[0]) as ada, chat.member("", tokens[1]) as ben:
            async with chat.member("", tokens[2]) as cleo:
                root = (await send(ada, "cake?"))["id"]
                answer = await send(ben, f"ask [her](mention:{cleo.id})", root)
                for member, counts in ((ada, (1, 0)), (ben, (0, 0)), (cleo, (1, 1))):
                    state = await member.pushed("thread_state")
                    assert (state["thread"], state["following"]) == (root, True)
                    assert (state["unread"], state["mentions"]) == counts
            await send(ben, "or him", root)
            read = await request(ada, "read", channel_id="general", message_id=answer["id"], thread=root)
            assert (read["unread"], read["mentions"]) == (1, 0)
            assert (await ada.pushed("thread_state")) | {"seq": 0} == {**read, "seq": 0}
    # The unread counts survive a restart.
    async with server_with_insight(variables) as (chat, _):
        expected = [[(root, 1, 0)], [(root, 0, 0)], [(root, 2, 1)], []]
        for token, threads in zip(tokens, expected, strict=True):
            async with chat.member("", token) as member:
                assert own(member.welcome) == threads
        async with chat.member("", tokens[0]) as ada:
            (thread,) = (await request(ada, "threads"))["threads"]
            assert (thread["root"]["text"], thread["root"]["answers"]["count"]) == ("cake?", 2)
            page = await request(ada, "history", channel_id="general", thread=root)
            assert (page["thread"]["following"], page["thread"]["unread"]) == (True, 1)


async def test_a_member_who_unfollowed_a_thread_follows_it_again_after_replying(chat: ChatServer) -> None:
    token = await chat.join("Ben")
    async with chat.member("Ada") as ada, chat.member("", token) as ben:
        root = (await send(ada, "cake?"))["id"]
        which = {"channel_id": "general", "message_id": root}
        assert await refused(ben, "thread_follow", **which) == "unknown_message"
        await send(ada, "chocolate", root)
        assert (await request(ben, "thread_follow", **which))["unread"] == 0
        assert (await ben.pushed("thread_state"))["following"]
        await send(ada, "lemon", root)
        async with chat.member("", token) as page:
            assert own(page.welcome) == [(root, 1, 0)]
        assert not (await request(ben, "thread_unfollow", **which))["following"]
        await send(ada, "apple", root)
        async with chat.member("", token) as page:
            assert own(page.welcome) == []
            assert (await request(page, "threads"))["threads"] == []
        await send(ben, "none", root)
        async with chat.member("", token) as page:
            assert own(page.welcome) == [(root, 0, 0)]


async def test_deleting_the_root_message_closes_its_thread(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        root = (await send(ada, "cake?"))["id"]
        answers = [await send(ben, text, root) for text in ("chocolate", "lemon")]
        await request(ada, "message_delete", channel_id="general", message_id=root)
        assert (
            await refused(ben, "message_send", channel_id="general", text="x", thread=root)
            == "unknown_message"
        )
        assert await texts(ben, root) == ["chocolate", "lemon"]
        (thread,) = (await request(ada, "threads"))["threads"]
        assert (thread["root"], thread["unread"]) == (None, 2)
        for answer in answers:
            await request(ben, "message_delete", channel_id="general", message_id=answer["id"])
        assert (await request(ada, "threads"))["threads"] == []
        assert await refused(ben, "history", channel_id="general", thread=root) == "unknown_message"


async def test_typing_events_in_a_thread_name_the_thread(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        root = (await send(ada, "cake?"))["id"]
        await request(ada, "typing", channel_id="general", thread=root)
        key = {"channel_id": "general", "member_id": ada.id, "thread": root}
        assert await ben.pushed("typing") == key
        assert await refused(ada, "typing", channel_id="general", thread="nothing") == "unknown_message"


async def test_invalid_replies_in_a_thread_are_rejected(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        root, other = (await send(ada, "cake?"))["id"], (await send(ada, "tea?"))["id"]
        answer = (await send(ada, "chocolate", root))["id"]
        send_to: dict[str, object] = {"channel_id": "general", "text": "x"}
        for thread, code in ((answer, "invalid_request"), ("nothing", "unknown_message")):
            assert await refused(ada, "message_send", **send_to, thread=thread) == code
        # A reply must be in the same thread as the message it replies to.
        assert await refused(ada, "message_send", **send_to, reply_to=answer) == "unknown_message"
        assert await refused(ada, "message_send", **send_to, reply_to=other, thread=root) == "unknown_message"
        assert (await send(ada, "y", root, reply_to=answer))["reply_to"] == answer
        assert (await send(ada, "z", root, reply_to=root))["reply_to"] == root
        assert await refused(ada, "history", channel_id="general", thread="nothing") == "unknown_message"


async def test_replies_in_threads_can_be_found_pinned_edited_and_reacted_to(chat: ChatServer) -> None:
    async with chat.member("Olga") as owner, chat.member("Ada") as ada:
        root = (await send(ada, "cake?"))["id"]
        answer = await send(ada, f"chocolate for [her](mention:{owner.id})", root)
        which = {"channel_id": "general", "message_id": answer["id"]}
        await request(owner, "pin_add", **which)
        assert (await request(ada, "pins", channel_id="general"))["messages"][0]["thread"] == root
        await request(owner, "reaction_add", **which, emoji="🍫")
        assert own({"threads": [(await request(owner, "threads"))["threads"][0]]}) == [(root, 1, 1)]
        await request(ada, "message_edit", **which, text="vanilla for nobody")
        assert own({"threads": [(await request(owner, "threads"))["threads"][0]]}) == [(root, 1, 0)]

        async def is_found() -> bool:
            results = (await request(ada, "search", query="vanilla"))["messages"]
            return [message["thread"] for message in results] == [root]

        await wait_until("the reply is found", is_found, within_s=10)


async def test_following_a_thread_beyond_the_limit_unfollows_the_least_active(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_counts, "MAX_FOLLOWED", 2)
    token = await chat.join("Ben")
    async with chat.member("Ada") as ada, chat.member("", token) as ben:
        roots = [(await send(ada, str(number)))["id"] for number in range(3)]
        for root in (roots[1], roots[0], roots[2]):
            await send(ben, "yes", root)
        async with chat.member("", token) as page:
            assert own(page.welcome) == [(roots[2], 0, 0), (roots[0], 0, 0)]
        events = [await ben.pushed("thread_state") for _ in range(4)]
        assert [(state["thread"], state["following"]) for state in events[2:]] == [
            (roots[1], False),
            (roots[2], True),
        ]
        first = await request(ben, "threads", limit=1)
        assert ([t["thread"] for t in first["threads"]], first["more"]) == ([roots[2]], True)
        second = await request(ben, "threads", limit=1, before=first["threads"][0]["last"])
        assert ([t["thread"] for t in second["threads"]], second["more"]) == ([roots[0]], False)


async def test_a_thread_in_an_invisible_channel_is_not_found(variables: dict[str, str]) -> None:
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Olga") as owner,
        chat.member("Ben") as ben,
    ):
        root = (await send(owner, "cake?"))["id"]
        answer = (await send(ben, "chocolate", root))["id"]
        overrides = Overrides(members={ben.id: Override(deny=Permission.VIEW_CHANNEL)})
        community.directory.put_channel(Channel("general", "general", TEXT, overrides=overrides))
        community.directory.put_channel(Channel("open", "open", TEXT))
        assert (await request(ben, "threads"))["threads"] == []
        # Requests with the id of a visible channel do not reveal anything about the thread, either.
        for channel_id, code in (("general", "unknown_channel"), ("open", "unknown_message")):
            which = {"channel_id": channel_id, "message_id": root}
            reading = {"channel_id": channel_id, "message_id": answer, "thread": root}
            assert await refused(ben, "thread_follow", **which) == code
            assert await refused(ben, "thread_unfollow", **which) == code
            assert await refused(ben, "history", channel_id=channel_id, thread=root) == code
            assert await refused(ben, "read", **reading) == code
            assert await refused(ben, "message_send", **which, text="x", thread=root) == code


async def test_threads_are_deleted_with_their_channel_and_followers_with_their_membership(
    members: MembersByRole,
) -> None:
    async with members.live("member") as (page,):
        root = (await send(page, "cake?"))["id"]
        await send(page, "chocolate", root)
        channel = await members.owner.done("POST", "/api/channels", {"name": "short", "type": "text"})
        path = f"/api/channels/{channel['id']}/messages"
        other = await members.member.done("POST", path, {"text": "tea?"})
        await members.member.done("POST", path, {"text": "green", "thread": other["id"]})
        listed = (await members.member.done("GET", "/api/me/threads"))["threads"]
        assert [thread["thread"] for thread in listed] == [other["id"], root]
        await members.owner.done("DELETE", f"/api/channels/{channel['id']}")
        listed = (await members.member.done("GET", "/api/me/threads?limit=5"))["threads"]
        assert [thread["thread"] for thread in listed] == [root]
        follow = f"/api/channels/general/messages/{root}/follow"
        assert (await members.admin.done("PUT", follow))["following"]
        assert not (await members.admin.done("DELETE", follow))["following"]
    await members.member.done("POST", "/api/me/leave")
    assert (await members.owner.done("GET", f"/api/channels/general/messages/{root}"))["answers"][
        "count"
    ] == 1
