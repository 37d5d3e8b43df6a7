"""A bot's session gets each event once over the live socket, and fills gaps from the history."""

import json
from typing import Any

import pytest

from svc.client.cursors import Cursors
from svc.client.models import Author, Message
from svc.client.requests import Refused
from svc.client.session import PushedEvent, Resumed, SendFrame, Session, SignedIn


def frame(event: str, data: object = None, **more: object) -> str:
    return json.dumps({"event": event, "data": {} if data is None else data, **more})


def sent(session: Session) -> Any:
    """Return a session's reply to the greeting of a new connection."""
    session.begin()
    answer = session.process(frame("hello"))
    assert isinstance(answer, SendFrame)
    return json.loads(answer.text)


def test_a_session_signs_in_once_and_then_resumes() -> None:
    session = Session("svcbot.x")
    assert sent(session) == {"event": "authenticate", "id": 1, "data": {"access_token": "svcbot.x"}}
    assert session.process(frame("authenticated", {"seq": 5}, id=1)) == SignedIn({"seq": 5})
    assert session.process(frame("message_posted", seq=7)) == PushedEvent("message_posted", {})
    assert sent(session) == {"event": "resume", "id": 1, "data": {"access_token": "svcbot.x", "seq": 7}}


def test_missed_events_are_delivered_and_none_is_repeated() -> None:
    session = Session("svcbot.x")
    sent(session)
    session.process(frame("authenticated", {"seq": 5}, id=1))
    session.process(frame("message_posted", seq=7))
    sent(session)
    # The server has sent every event up to 20, but the connection is lost before they arrive.
    assert session.process(frame("resumed", {"seq": 20}, id=1)) == Resumed({"seq": 20})
    assert session.process(frame("message_posted", seq=7)) is None
    assert session.process(frame("message_posted", seq=8)) == PushedEvent("message_posted", {})
    assert sent(session)["data"]["seq"] == 8


def test_the_server_may_send_the_whole_state_again_on_an_open_connection() -> None:
    session = Session("svcbot.x")
    sent(session)
    session.process(frame("authenticated", {"seq": 50}, id=1))
    assert session.process(frame("authenticated", {"seq": 9})) == SignedIn({"seq": 9})
    assert session.process(frame("message_posted", seq=10)) == PushedEvent("message_posted", {})


def test_events_without_a_sequence_number_are_always_delivered() -> None:
    session = Session("svcbot.x")
    sent(session)
    session.process(frame("authenticated", {"seq": 5}, id=1))
    for _ in range(2):
        assert session.process(frame("typing", {"member_id": "ada"})) == PushedEvent(
            "typing", {"member_id": "ada"}
        )


def test_events_before_the_sign_in_are_ignored() -> None:
    session = Session("svcbot.x")
    sent(session)
    assert session.process(frame("message_posted", seq=7)) is None
    assert not session.signed_in


def test_the_reason_for_a_rejected_sign_in_is_reported() -> None:
    session = Session("svcbot.x")
    sent(session)
    with pytest.raises(Refused) as refused:
        session.process(
            frame("error", {"error": "rate_limited", "message": "Wait", "retry_after_ms": 1500}, id=1)
        )
    assert (refused.value.code, refused.value.retry_after_s) == ("rate_limited", 1.5)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{}", '{"event": 1, "data": {}}', '{"event": "hello"}', '{"event": "a", "data": []}'],
)
def test_an_invalid_frame_is_reported(text: str) -> None:
    with pytest.raises(ValueError):
        Session("svcbot.x").process(text)


def an_id(number: int) -> str:
    return f"{number:08x}-0000-7000-8000-000000000000"


def message(number: int, channel: str = "general", thread: str | None = None) -> Message:
    author = Author("member", "ada", "Ada", None, bot=False)
    return Message(an_id(number), channel, author, "", None, (), (), (), 0, None, thread)


def state(threads: dict[str, int] | None = None, **lasts: int | None) -> dict[str, Any]:
    """Return the state that the server sends after a sign-in. The arguments are the newest messages by thread
    and by channel.
    """
    counts = [{"channel_id": name, "last": n and an_id(n)} for name, n in lasts.items()]
    followed = [{"channel_id": "general", "thread": t, "last": an_id(n)} for t, n in (threads or {}).items()]
    return {"unread": counts, "threads": followed}


def test_no_messages_are_missed_before_the_first_sign_in() -> None:
    cursors = Cursors()
    assert list(cursors.missed_channels(state(general=7, news=None))) == []


def test_after_a_gap_history_is_read_only_where_there_are_new_messages() -> None:
    cursors = Cursors()
    cursors.record_state(state(general=7, news=3))
    assert cursors.record_event(message(8))
    assert list(cursors.missed_channels(state(general=8, news=3))) == []
    later = state({"root": 12}, general=10, news=3, fresh=11)
    after = an_id(8)
    assert list(cursors.missed_channels(later)) == [
        ("general", None, after),
        ("fresh", None, after),
        ("general", "root", after),
    ]


def test_messages_read_from_history_are_not_repeated_by_events() -> None:
    cursors = Cursors()
    cursors.record_state(state(general=7))
    again = state(general=9, news=None)
    for number in (9, 12):  # Message 12 was posted while the history was being read.
        cursors.record_history(message(number))
    cursors.record_state(again)
    assert cursors.record_event(message(11, "news"))
    assert cursors.record_event(message(11, thread="root"))
    assert not cursors.record_event(message(12))
    assert cursors.record_event(message(13))
    assert list(cursors.missed_channels(state(general=13, news=11))) == []


def test_an_empty_server_is_read_from_the_beginning() -> None:
    cursors = Cursors()
    cursors.record_state(state(general=None))
    assert list(cursors.missed_channels(state(general=1))) == [("general", None, an_id(0))]
