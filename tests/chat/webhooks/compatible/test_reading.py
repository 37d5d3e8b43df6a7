"""Others' payloads are read as far as their services allow them to go, and the largest in no time."""

import pytest

from svc.chat.webhooks.body import decode
from svc.chat.webhooks.compatible import discord, github, slack
from svc.chat.webhooks.compatible.reading import Node, Unreadable
from svc.chat.webhooks.limits import MAX_BODY_BYTES


def filled(before: str, piece: str, behind: str) -> object:
    """As many pieces as a body may have."""
    room = MAX_BODY_BYTES - len(before) - len(behind)
    return decode((before + (piece * (room // len(piece))).rstrip(",") + behind).encode())


def test_what_is_beyond_the_most_is_not_looked_at() -> None:
    node = Node.of({"list": [{}, None, {}, "no object"]})
    assert len(node.children("list", 3)) == 2
    with pytest.raises(Unreadable):
        node.children("list", 4)


@pytest.mark.timeout(30)
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
def test_the_worst_of_slack_is_read_in_no_time(before: str, piece: str, behind: str) -> None:
    """The event loop waits for it: the first of these once took half a second."""
    body = filled(before, piece, behind)
    for _ in range(100):
        slack.message(Node.of(body)).payload()


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ('{"embeds":[{"fields":[', "{},", "]}]}"),
        ('{"embeds":[', '{"fields":[{},{},{},{},{},{}]},', "]}"),
        ('{"content":"', "`", '"}'),
        ('{"content":"', "<@1>", '"}'),
    ],
)
def test_the_worst_of_discord_is_read_in_no_time(before: str, piece: str, behind: str) -> None:
    body = filled(before, piece, behind)
    for _ in range(100):
        discord.message(Node.of(body)).payload()


@pytest.mark.timeout(30)
def test_the_worst_of_file_names_are_told_in_no_time() -> None:
    for _ in range(100):
        told = discord.message(Node.of({}), ["*_" * 2_000] * 64)
    assert told.text.startswith("(left out: ")


@pytest.mark.timeout(30)
def test_the_worst_of_github_is_read_in_no_time() -> None:
    body = filled('{"ref":"refs/heads/main","commits":[', "{},", "]}")
    for _ in range(100):
        assert github.message("push", Node.of(body)) is not None
