"""Response types for automatic moderation, and the event for a deleted rule.

`Rule` is in `rule_definition`.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.automod.rule_definition import MAX_RULES, Rule
from svc.chat.schemas import Id, Response


class Rules(Response):
    rules: Annotated[Sequence[Rule], Meta(max_length=MAX_RULES)]


class RuleDeleted(Response):
    rule_id: Id
