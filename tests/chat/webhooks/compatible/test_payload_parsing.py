"""Payloads for other services are parsed the way these services do, in linear time."""

from types import ModuleType

import pytest

from svc.chat.webhooks.compatible import discord, github, slack
from svc.chat.webhooks.compatible.draft import MessageDraft
from svc.chat.webhooks.compatible.payload_reader import (
    MAX_READ_CHARACTERS,
    MAX_READ_OBJECTS,
    MAX_TEXT_CHARACTERS,
    InvalidValue,
    Node,
)
from svc.chat.webhooks.json_reader import decode
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from tests.kit.time_complexity import grows_with_its_size


def filled(before: str, piece: str, behind: str, size: int) -> object:
    """Return a body of the given size, filled with copies of `piece`."""
    room = size - len(before) - len(behind)
    return decode((before + (piece * (room // len(piece))).rstrip(",") + behind).encode())


def test_content_beyond_the_limit_is_not_parsed() -> None:
    node = Node.of({"list": [{}, None, {}, "no object"]})
    assert len(node.children("list", 3)) == 2
    with pytest.raises(InvalidValue):
        node.children("list", 4)


def test_objects_beyond_the_budget_for_a_message_are_not_parsed() -> None:
    node = Node.of({"list": [{}] * MAX_READ_OBJECTS, "more": [{}]})
    assert len(node.children("list", 2 * MAX_READ_OBJECTS)) == MAX_READ_OBJECTS
    assert node.children("more", 1) == []


def test_a_short_link_counts_as_more_characters_than_it_has() -> None:
    # Converting 4,000 links of three characters each once took 20 ms.
    node = Node.of({"text": "<a>" * MAX_READ_CHARACTERS})
    texts = [node.text("text", maximum) for maximum in (MAX_TEXT_CHARACTERS, MAX_TEXT_CHARACTERS, 100)]
    assert texts[0] == ("<a>" * MAX_TEXT_CHARACTERS)[:MAX_TEXT_CHARACTERS]
    assert sum(text.count("<") for text in texts) < 2_700


@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ('{"attachments":[{"fields":[', "{},", "]}]}"),
        ('{"attachments":[{"blocks":[', '{"type":"actions","elements":[{},{},{},{},{},{},{},{}]},', "]}]}"),
        ('{"attachments":[', '{"fields":[{},{},{},{},{},{},{},{}]},', "]}"),
        ('{"blocks":[{"type":"section","fields":[', '{"type":"mrkdwn","text":"*a*"},', "]}]}"),
        ('{"mrkdwn":false,"text":"', "\\n", '"}'),
        ('{"text":"', "\\\\", '"}'),
        ('{"text":"', "<a|", '"}'),
    ],
)
def test_the_worst_slack_payloads_are_parsed_in_linear_time(before: str, piece: str, behind: str) -> None:
    # Parsing blocks the event loop, and the first of these payloads once blocked it for half a second.
    def read(size: int) -> None:
        slack.message(Node.of(filled(before, piece, behind, size))).payload()

    assert grows_with_its_size(read, MAX_BODY_BYTES)


@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ('{"embeds":[{"fields":[', "{},", "]}]}"),
        ('{"embeds":[', '{"fields":[{},{},{},{},{},{}]},', "]}"),
        ('{"content":"', "`", '"}'),
        ('{"content":"', "<@1>", '"}'),
    ],
)
def test_the_worst_discord_payloads_are_parsed_in_linear_time(before: str, piece: str, behind: str) -> None:
    def read(size: int) -> None:
        discord.message(Node.of(filled(before, piece, behind, size))).payload()

    assert grows_with_its_size(read, MAX_BODY_BYTES)


WORDS = "word " * 80


@pytest.mark.parametrize(
    ("service", "before", "piece", "behind"),
    [
        (slack, '{"text":"', "<!a>", '"}'),
        (slack, '{"attachments":[{}', f',{{"fields":[{{"value":"{WORDS}"}}]}}', "]}"),
        (slack, '{"blocks":[{}', f',{{"type":"section","text":{{"type":"mrkdwn","text":"{WORDS}"}}}}', "]}"),
        (discord, '{"embeds":[{}', f',{{"fields":[{{"value":"{WORDS}"}},{{"value":"{WORDS}"}}]}}', "]}"),
        (discord, '{"content":"', "<@1>", '"}'),
    ],
)
def test_no_more_of_a_message_is_converted_than_can_be_displayed(
    service: ModuleType, before: str, piece: str, behind: str
) -> None:
    # Conversion blocks the event loop, and an ordinary post of 214 KB once blocked it for 45 ms.
    draft = service.message(Node.of(filled(before, piece, behind, MAX_BODY_BYTES)))
    texts = [draft.text, *(card.description for card in draft.cards)]
    texts += [field.value for card in draft.cards for field in card.fields]
    # Each character becomes at most two characters, because a backslash may precede it.
    assert 0 < sum(map(len, texts)) <= 2 * MAX_READ_CHARACTERS
    assert sum(len(card.fields) for card in draft.cards) <= MAX_READ_OBJECTS


def test_the_worst_file_names_are_processed_in_linear_time() -> None:
    def reports_length(length: int) -> None:
        assert discord.without(MessageDraft(), ["*_" * length] * 64).text.startswith("(left out: ")

    assert grows_with_its_size(reports_length, 2_000)


def test_the_worst_github_payloads_are_parsed_in_linear_time() -> None:
    def read(size: int) -> None:
        body = filled('{"ref":"refs/heads/main","commits":[', "{},", "]}", size)
        assert github.message("push", Node.of(body)) is not None

    assert grows_with_its_size(read, MAX_BODY_BYTES)
