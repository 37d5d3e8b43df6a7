"""Slack's mrkdwn keeps its meaning when it is converted to Markdown, without accidental mentions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.messages.markdown import mentioned_ids
from svc.chat.webhooks.compatible.slack import markdown, plain


@pytest.mark.parametrize(
    ("mrkdwn", "expected"),
    [
        ("*bold* _italic_ ~gone~ `code`", "**bold** _italic_ ~~gone~~ `code`"),
        ("a *b c*, d", "a **b c**, d"),
        ("**both**", "**both**"),
        ("2*3*4 or 5 * 6 * 7", r"2\*3\*4 or 5 * 6 * 7"),
        ("* one\n* two", "* one\n* two"),
        ("~3 minutes and ~5", "~3 minutes and ~5"),
        ("`*x* ~y~ &lt;b&gt; <http://a.test|b>`", "`*x* ~y~ <b> <http://a.test|b>`"),
        ("see ```one\n*two*``` end", "see \n```\none\n*two*\n```\n end"),
        ("```\nalone\n```", "```\nalone\n```"),
        ("> quoted\n&gt; escaped", "> quoted\n> escaped"),
        (":white_check_mark: *:tada:* :+1::skin-tone-2:", "✅ **🎉** 👍🏻"),
        ("`:tada:` :of_this_server: 12:100:30", "`:tada:` :of_this_server: 12:100:30"),
        ("<https://a.test/:tada:|:tada: b>", "[🎉 b](https://a.test/:tada:)"),
        ("5 &lt; 6 &amp;&amp; 7 &gt; 6", "5 < 6 && 7 > 6"),
        ("&lt;b&gt;no tag&lt;/b&gt;", r"\<b>no tag\</b>"),
        ("&amp;lt;", "&lt;"),
        ("# no heading\n#channel", "\\# no heading\n#channel"),
        (r"C:\*dir\new", r"C:\\\*dir\new"),
        ("[FIRING:1] x", "[FIRING:1] x"),
    ],
)
def test_slack_markup_becomes_markdown(mrkdwn: str, expected: str) -> None:
    assert markdown(mrkdwn) == expected


@pytest.mark.parametrize(
    ("mrkdwn", "expected"),
    [
        ("<https://a.test/x|here>", "[here](https://a.test/x)"),
        ("<https://a.test/x>", "[https://a.test/x](https://a.test/x)"),
        ("*<https://a.test|a>*", "**[a](https://a.test)**"),
        ("[<https://a.test|a>]", "[[a](https://a.test)]"),
        ("<https://a.test/?a=1&amp;b=(2)|a]b>", r"[a\]b](https://a.test/?a=1&b=%282%29)"),
        ("<mailto:one@a.test|One>, <mailto:one@a.test>", "One, one@a.test"),
        ("<javascript:alert(1)|click>", "click"),
    ],
)
def test_only_links_to_websites_are_kept(mrkdwn: str, expected: str) -> None:
    assert markdown(mrkdwn) == expected


@pytest.mark.parametrize(
    ("mrkdwn", "expected"),
    [
        ("<!channel> <!here> <!everyone>", "@channel @here @everyone"),
        ("<@U012AB3CD> <@U012AB3CD|bob>", "@U012AB3CD @bob"),
        ("<#C123|general> <!subteam^S1|@team>", "#general @team"),
        ("<!date^1392734382^{date}|18 February>", "18 February"),
        ("<no value>", r"\<no value>"),
    ],
)
def test_slack_mentions_become_plain_text(mrkdwn: str, expected: str) -> None:
    assert markdown(mrkdwn) == expected


def test_a_member_can_be_mentioned_in_slack_link_syntax() -> None:
    assert markdown("wake up <mention:m-1|Bob>") == "wake up [Bob](mention:m-1)"
    assert mentioned_ids(markdown("<mention:m-1|Bob>")) == ("m-1",)


@pytest.mark.parametrize(
    "mrkdwn",
    [
        "[Bob](mention:m-1)",
        "&lt;mention:m-1|Bob&gt;",
        "[Bob]<(mention:m-1)>",
        r"[Bob\](mention:m-1)",
        "[Bob]`x`(mention:m-1)",
        "[a <https://a.test|b](mention:m-1)>",
        "<https://a.test|](mention:m-1)>",
        "<mention:m-1 |Bob>",
        "`<mention:m-1|Bob>`",
    ],
)
def test_no_other_slack_markup_mentions_anyone(mrkdwn: str) -> None:
    assert mentioned_ids(markdown(mrkdwn)) == ()


_PIECES = st.sampled_from(
    [*"[]()<>|*_~`!\\ \n#&ab0", "](", "mention:m-1", "```", "http://a.test", "&lt;", "\0"]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_members_can_be_mentioned_only_in_slack_link_syntax(mrkdwn: str) -> None:
    if not re.search(r"<mention:[A-Za-z0-9_-]+(\||>)", mrkdwn.replace("\0", "")):
        assert mentioned_ids(markdown(mrkdwn)) == ()


@given(st.text())
def test_any_text_can_be_parsed_as_mrkdwn(mrkdwn: str) -> None:
    markdown(mrkdwn)
    plain(mrkdwn)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece", ["<", "*", "*a", "~", "`", "```a", "<|", "&lt;", "](", "\\", "#", "<!", "*a *"]
)
def test_a_quarter_megabyte_of_mrkdwn_is_converted_quickly(piece: str) -> None:
    markdown(piece * (256 * 1024 // len(piece)))


@pytest.mark.parametrize(
    ("mrkdwn", "expected"),
    [
        ("Disk &gt; 90% on <https://a.test|web-1>", "Disk > 90% on web-1"),
        ("<!here> *now*", "@here *now*"),
        ("<https://a.test>", "https://a.test"),
    ],
)
def test_markup_is_removed_from_titles(mrkdwn: str, expected: str) -> None:
    assert plain(mrkdwn) == expected
