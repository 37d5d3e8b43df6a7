"""Payloads for Discord webhooks have the same meaning here as on Discord."""

from collections.abc import Mapping

import pytest

from svc.chat.webhooks.compatible import discord
from svc.chat.webhooks.compatible.draft import BLANK
from svc.chat.webhooks.compatible.payload_reader import InvalidValue, Node


def test_a_discord_payloads_content_name_and_avatar_are_used_for_the_message() -> None:
    body = {
        "content": "Hello **there**",
        "username": "Robot",
        "avatar_url": "https://pictures.test/robot.png",
    }
    assert _mapped(body) == {
        "text": "Hello **there**",
        "display_name": "Robot",
        "avatar_url": "https://pictures.test/robot.png",
    }


def test_a_discord_embed_becomes_a_card() -> None:
    embed = {
        "title": "Build 12",
        "type": "rich",
        "description": "All *green*",
        "url": "https://ci.test/12",
        "timestamp": "2026-01-31T12:00:00.000Z",
        "color": 65280,
        "footer": {"text": "ci", "icon_url": "https://ci.test/icon.png", "proxy_icon_url": "x"},
        "image": {"url": "https://ci.test/graph.png", "height": 10, "width": 10},
        "thumbnail": {"url": "https://ci.test/small.png"},
        "author": {"name": "Robot", "url": "https://ci.test", "icon_url": "https://ci.test/robot.png"},
        "fields": [{"name": "Branch", "value": "main", "inline": True}, {"name": "Took", "value": 12}],
    }
    assert _mapped({"embeds": [embed]}) == {
        "cards": [
            {
                "title": "Build 12",
                "url": "https://ci.test/12",
                "description": "All *green*",
                "color": 65280,
                "author": {
                    "name": "Robot",
                    "url": "https://ci.test",
                    "icon_url": "https://ci.test/robot.png",
                },
                "fields": [
                    {"name": "Branch", "value": "main", "inline": True},
                    {"name": "Took", "value": "12", "inline": False},
                ],
                "image_url": "https://ci.test/graph.png",
                "thumbnail_url": "https://ci.test/small.png",
                "footer": {"text": "ci", "icon_url": "https://ci.test/icon.png"},
                "timestamp": "2026-01-31T12:00:00+00:00",
            }
        ]
    }


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "<@80351110224678912> and <@!803511102> and <@&41771983423143936>",
            "@80351110224678912 and @803511102 and @41771983423143936",
        ),
        ("in <#103735883630395392>, run </help:816437322781949972>", "in #103735883630395392, run /help"),
        ("<:mmLol:216154654256398347> <a:b1nzy:392938283556143104>", ":mmLol: :b1nzy:"),
        ("due <t:1618953630:R>", "due 2021-04-20 21:20 UTC"),
        ("`<@80351110224678912>`", "`<@80351110224678912>`"),
        ("<t:9999999999999:R>", "9999999999999"),
        ("@everyone, <https://a.test>", "@everyone, <https://a.test>"),
        ("[Bob](mention:m-1)", "[Bob](mention:m-1)"),
    ],
)
def test_discord_mentions_become_plain_text_and_our_own_mentions_are_kept(content: str, text: str) -> None:
    assert _mapped({"content": content}) == {"text": text}


def test_fields_without_a_counterpart_are_ignored() -> None:
    body = {
        "content": "x",
        "tts": True,
        "allowed_mentions": {"parse": ["everyone"]},
        "flags": 4096,
        "components": [{"type": 1, "components": []}],
        "thread_name": "t",
        "applied_tags": [],
        "poll": {"question": {"text": "?"}},
        "embeds": None,
    }
    assert _mapped(body) == {"text": "x"}


def test_an_empty_embed_is_not_a_card() -> None:
    assert _mapped({"content": "x", "embeds": [{}, {"color": 1}, {"url": "https://a.test"}]}) == {"text": "x"}


def test_a_spacer_field_keeps_the_position_of_the_next_field() -> None:
    names = [("a", "b"), (BLANK, BLANK), ("n", BLANK)]
    fields = [{"name": name, "value": value, "inline": True} for name, value in names]
    [card] = _cards({"embeds": [{"title": "t", "fields": fields}]})
    assert card["fields"] == fields


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":white_check_mark: done", "✅ done"),
        (":tada::thumbsup_tone5:", "🎉👍🏿"),
        ("`:tada:` <:tada:123> :of_this_server:", "`:tada:` :tada: :of_this_server:"),
        ("at 12:100:30 https://a.test/:tada:", "at 12:100:30 https://a.test/:tada:"),
    ],
)
def test_emoji_names_become_emoji_except_in_code_and_urls(written: str, shown: str) -> None:
    embed = {"title": "t", "description": written, "fields": [{"name": "n", "value": written}]}
    posted: dict[str, object] = {"content": written, "embeds": [embed]}
    [card] = _cards(posted)
    assert [_mapped(posted)["text"], card["description"]] == [shown] * 2
    assert card["fields"] == [{"name": "n", "value": shown, "inline": False}]


def test_a_leap_second_becomes_the_following_second() -> None:
    [card] = _cards({"embeds": [{"title": "t", "timestamp": "1990-12-31T23:59:60.000Z"}]})
    assert card["timestamp"] == "1991-01-01T00:00:00+00:00"


def test_omitted_files_are_named_in_the_message() -> None:
    draft = discord.without(discord.message(Node({"content": "Here"})), ["log_1.txt", "a*b.png"])
    assert draft.payload() == {"text": r"Here" "\n" r"(left out: log_1.txt, a\*b.png)"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": ["x"]}, ("content",)),
        ({"embeds": {"title": "x"}}, ("embeds",)),
        ({"embeds": ["x"]}, ("embeds", 0)),
        ({"embeds": [{"title": "x"}, {"footer": "x"}]}, ("embeds", 1, "footer")),
        ({"embeds": [{"fields": [{"name": {}}]}]}, ("embeds", 0, "fields", 0, "name")),
    ],
)
def test_ambiguous_discord_payloads_are_rejected(
    body: dict[str, object], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidValue) as refused:
        discord.message(Node(body))
    assert refused.value.path == path


def _mapped(body: Mapping[str, object]) -> dict[str, object]:
    return discord.message(Node(body)).payload()


def _cards(body: dict[str, object]) -> list[dict[str, object]]:
    cards = _mapped(body)["cards"]
    assert isinstance(cards, list)
    return cards
