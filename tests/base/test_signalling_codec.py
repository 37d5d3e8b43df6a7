"""Frames between the chat server and the media service are parsed strictly, and every error has a message."""

import json

import pytest
from msgspec import UNSET, UnsetType

from svc.base.signalling_codec import (
    Envelope,
    EnvelopeError,
    Payload,
    parse,
    payload,
    read,
    serialise,
    serialise_payload,
    serialise_text,
)


def test_a_frame_survives_writing_and_reading() -> None:
    frame = serialise("peer_joined", {"room_id": "lobby", "user_id": 'a"ü\U0001f600'})
    assert payload(parse(frame)) == {"room_id": "lobby", "user_id": 'a"ü\U0001f600'}


def test_data_on_the_wire_is_a_string_containing_json() -> None:
    frame = json.loads(serialise("keep_alive", {"timestamp": 1}))
    assert frame == {"event": "keep_alive", "data": '{"timestamp":1}'}


def test_a_bare_string_is_not_encoded_twice() -> None:
    assert parse(serialise_text("room_error", "No seats left")) == Envelope("room_error", "No seats left")


def test_missing_data_is_parsed_as_empty() -> None:
    assert parse('{"event":"renegotiate"}') == Envelope("renegotiate", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The message is not valid JSON"),
        ("{", "The message is not valid JSON"),
        ("NaN", "The message is not valid JSON"),
        ("[" * 100_000, "The message is not valid JSON"),
        ('{"event":' + "9" * 5000 + "}", "The message is not valid JSON"),
        ('{"event":"\\ud800"}', "The message is not valid JSON"),
        ('"offer"', "The message is not a JSON object"),
        ('["offer",""]', "The message is not a JSON object"),
        ("{}", "The message has no event name"),
        ('{"event":""}', "The message has no event name"),
        ('{"event":7,"data":""}', "The message has no event name"),
        (
            '{"event":"offer","data":{"sdp":""}}',
            "The data of the message is not a string containing JSON",
        ),
        (
            '{"event":"offer","data":null}',
            "The data of the message is not a string containing JSON",
        ),
    ],
)
def test_a_malformed_frame_is_rejected_with_a_message(text: str, message: str) -> None:
    with pytest.raises(EnvelopeError) as refusal:
        parse(text)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "The data of 'answer' is not valid JSON"),
        ("{", "The data of 'answer' is not valid JSON"),
        ('{"a":"\\uDC00"}', "The data of 'answer' is not valid JSON"),
        ("[]", "The data of 'answer' is not a JSON object"),
        ("null", "The data of 'answer' is not a JSON object"),
    ],
)
def test_a_payload_that_is_not_an_object_is_rejected_with_a_message(data: str, message: str) -> None:
    with pytest.raises(EnvelopeError) as refusal:
        payload(Envelope("answer", data))
    assert str(refusal.value) == message


def test_a_surrogate_pair_escape_is_an_ordinary_character() -> None:
    assert payload(Envelope("answer", '{"a":"\\ud83d\\ude00"}')) == {"a": "\U0001f600"}


class Greeting(Payload):
    event = "greeting"
    name: str
    loud: bool | UnsetType = UNSET


class Nod(Payload):
    event = "nod"
    lenient = True
    times: int = 1


def test_a_payload_is_sent_with_its_event_name_and_without_unset_fields() -> None:
    frame = parse(serialise_payload(Greeting("Ada")))
    assert frame == Envelope("greeting", '{"name":"Ada"}')
    assert read(frame, Greeting) == Greeting("Ada")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "name is missing"),
        ("null", "name is missing"),
        ('{"name":5}', "name must be a string"),
        ('{"name":"Ada","loud":1}', "loud must be true or false"),
        ("[]", "The data of 'greeting' is not a JSON object"),
    ],
)
def test_the_error_for_an_invalid_payload_names_the_field(data: str, message: str) -> None:
    with pytest.raises(EnvelopeError) as refusal:
        read(Envelope("greeting", data), Greeting)
    assert str(refusal.value) == message


@pytest.mark.parametrize("data", ["", "{", "[]", '{"times":"two"}'])
def test_an_unusable_payload_of_a_lenient_event_counts_as_empty(data: str) -> None:
    assert read(Envelope("nod", data), Nod) == Nod()
