"""Response types for automatic moderation, and the event for a deleted rule.

`rule_definition` defines `Rule`.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.automod.rule_definition import MAX_RULES, Rule
from svc.chat.schemas import Id, Natural, Response, TimeMs

# The maximum number of messages that a test searches, and of matches that it returns.
TRIAL_MESSAGES, TRIAL_SHOWN = 1_000, 50


class Rules(Response):
    rules: Annotated[Sequence[Rule], Meta(max_length=MAX_RULES)]


class RuleDeleted(Response):
    rule_id: Id


class FoundMessage(Response):
    """A message that matches the tested rule. `found` contains the start and end of each match."""

    id: Id
    channel_id: Id
    author_id: Id
    display_name: str
    text: str
    found: Sequence[Sequence[Natural]]
    posted_at_ms: TimeMs


class RuleTest(Response):
    """The matches of a tested rule among recent messages, newest first."""

    read: Annotated[int, Meta(ge=0, le=TRIAL_MESSAGES)]
    found: Annotated[int, Meta(ge=0, le=TRIAL_MESSAGES)]
    messages: Annotated[Sequence[FoundMessage], Meta(max_length=TRIAL_SHOWN)]
