"""What rules about messages say of themselves, for people and for programs."""

from svc.chat.automod import rule
from svc.chat.automod.rules import TRIAL_MESSAGES, TRIAL_SHOWN
from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)

_NAME = string(rule.MAX_NAME, 1)
_NEEDED: dict[str, Schema] = {"name": _NAME, "kind": choice(*rule.KINDS), "action": choice(*rule.ACTIONS)}
_ASKED = asked(
    _NEEDED,
    {
        "enabled": BOOLEAN,
        "words": array(string(rule.MAX_WORD), rule.MAX_WORDS),
        "allowed": array(string(rule.MAX_DOMAIN), rule.MAX_DOMAINS),
        "most": integer(rule.LEAST_MOST, rule.MOST),
        "within_s": integer(rule.LEAST_WITHIN_S, rule.WITHIN_S),
        "timeout_s": integer(rule.LEAST_TIMEOUT_S, rule.TIMEOUT_S),
        "newcomer_s": integer(0, rule.NEWCOMER_S),
        "except_roles": array(ID, rule.MAX_EXCEPTED),
        "except_channels": array(ID, rule.MAX_EXCEPTED),
    },
)
_RULE = Named(
    "Rule",
    obj(
        {
            "id": ID,
            **_NEEDED,
            "enabled": BOOLEAN,
            "words": array(string(rule.MAX_WORD, 1), rule.MAX_WORDS),
            "allowed": array(string(rule.MAX_DOMAIN, 1), rule.MAX_DOMAINS),
            # 0 wherever it does not apply.
            "most": integer(0, rule.MOST),
            "within_s": integer(0, rule.WITHIN_S),
            "timeout_s": integer(0, rule.TIMEOUT_S),
            "newcomer_s": integer(0, rule.NEWCOMER_S),
            "except_roles": array(string(), rule.MAX_EXCEPTED),
            "except_channels": array(string(), rule.MAX_EXCEPTED),
            "created_by": nullable(ID),
            "created_at_ms": TIME_MS,
        }
    ),
)
_FOUND = obj(
    {
        "id": ID,
        "channel_id": ID,
        "author_id": ID,
        "display_name": string(),
        "text": string(),
        # Where: the first character of each place, and the first behind it.
        "found": array(array(integer(0))),
        "posted_at_ms": TIME_MS,
    }
)
_ONE = "/api/automod/rules/{rule_id}"
_MANAGERS = "who may manage automatic moderation"

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/automod/rules",
            "The rules by which members' messages are moderated, the oldest first",
            obj({"rules": array(_RULE, rule.MAX_RULES)}),
        ),
        Endpoint(
            "POST /api/automod/rules",
            "Make a rule, which is off unless it says otherwise",
            _RULE,
            201,
            body=_ASKED,
            refusals=["forbidden", "too_many"],
        ),
        Endpoint(
            f"PUT {_ONE}",
            "Have a rule as the body says, all of it",
            _RULE,
            body=_ASKED,
            refusals=["forbidden", "unknown_rule"],
        ),
        Endpoint(f"DELETE {_ONE}", "Delete a rule", refusals=["unknown_rule"]),
        Endpoint(
            "POST /api/automod/trial",
            "What a rule would have found among the messages that members have posted last; changes nothing",
            obj(
                {
                    "read": integer(0, TRIAL_MESSAGES),
                    "found": integer(0, TRIAL_MESSAGES),
                    "messages": array(_FOUND, TRIAL_SHOWN),
                }
            ),
            body=_ASKED,
        ),
    ],
    pushes=[
        Pushed("rule_created", "Somebody has made a rule about messages", _RULE, _MANAGERS),
        Pushed("rule_updated", "Somebody has changed a rule about messages", _RULE, _MANAGERS),
        Pushed("rule_deleted", "Somebody has deleted a rule about messages", obj({"rule_id": ID}), _MANAGERS),
    ],
)
