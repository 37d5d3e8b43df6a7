"""Handles requests that manage automod rules, or test them before they are enabled."""

import time

from svc.chat.access.endpoint_permissions import on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.automod.responses import RuleDeleted, Rules, RuleTest
from svc.chat.automod.rule_definition import NewRule, Rule
from svc.chat.automod.rule_engine import Automod, Latest
from svc.chat.endpoints import Endpoints, describe_feature, endpoint
from svc.chat.schemas import Event, Id

_RULES = "/api/automod/rules"
_RULE_PATH = f"{_RULES}/{{rule_id}}"
_MANAGER = on_server(P.MANAGE_AUTOMOD)
_MANAGERS = "members who may manage automatic moderation"


class AutomodEndpoints(Endpoints):
    def __init__(self, automod: Automod, latest: Latest) -> None:
        self._automod, self._latest = automod, latest

    @endpoint(_MANAGER, "List the moderation rules for messages, oldest first", http=f"GET {_RULES}")
    async def all(self) -> Rules:
        return Rules(self._automod.all())

    @endpoint(
        _MANAGER,
        "Create a rule, disabled by default. A server has at most 20. An enabled rule with the "
        "action `timeout` also needs `timeout_members`",
        http=f"POST {_RULES}",
        refusals=("forbidden", "too_many"),
        status=201,
    )
    async def create(self, session: Session, body: NewRule) -> Rule:
        return await self._automod.create(session.member_id, body, time.time())

    @endpoint(
        _MANAGER,
        "Replace a rule. Needs the same permissions as creating it",
        http=f"PUT {_RULE_PATH}",
        refusals=("forbidden", "unknown_rule"),
    )
    async def edit(self, session: Session, rule_id: Id, body: NewRule) -> Rule:
        return await self._automod.edit(session.member_id, rule_id, body, time.time())

    @endpoint(_MANAGER, "Delete a rule", http=f"DELETE {_RULE_PATH}", refusals=("unknown_rule",))
    async def delete(self, session: Session, rule_id: Id) -> None:
        await self._automod.delete(session.member_id, rule_id, time.time())

    # The test returns only messages in channels that the member can view.
    @endpoint(
        _MANAGER,
        "Test a rule on the last 1,000 messages of members, with their present roles. Changes "
        "nothing. Returns up to 50 matches in channels that you can view",
        http="POST /api/automod/trial",
        refusals=("too_slow",),
        cost=5.0,
    )
    async def trial(self, session: Session, body: NewRule) -> RuleTest:
        return await self._automod.trial(session.member_id, body, self._latest, time.time())


DESCRIPTION = describe_feature(
    AutomodEndpoints,
    pushes=[
        Event("rule_created", "A moderation rule was created", Rule, _MANAGERS),
        Event("rule_updated", "A moderation rule was changed", Rule, _MANAGERS),
        Event("rule_deleted", "A moderation rule was deleted", RuleDeleted, _MANAGERS),
    ],
)
