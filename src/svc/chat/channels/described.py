"""What channels say of themselves, for people and for programs."""

from svc.chat.access.permissions import OF_A_CHANNEL, names
from svc.chat.channels.overrides import MEMBER, ROLE
from svc.chat.channels.routes import MAX_OVERRIDES
from svc.chat.channels.rules import MAX_CHANNELS
from svc.chat.channels.slow_mode import MAX_SLOW_MODE_S
from svc.chat.channels.wanted import (
    KINDS,
    MAX_BITRATE_KBPS,
    MAX_NAME_CHARACTERS,
    MAX_TOPIC_CHARACTERS,
    MAX_USER_LIMIT,
)
from svc.chat.described import (
    BOOLEAN,
    ID,
    Described,
    Endpoint,
    Named,
    Pushed,
    array,
    asked,
    choice,
    integer,
    mapping,
    nullable,
    obj,
    string,
)

_NAME, _TOPIC = string(MAX_NAME_CHARACTERS, 1), string(MAX_TOPIC_CHARACTERS)
_KIND, _SLOW_MODE = choice(*KINDS), integer(0, MAX_SLOW_MODE_S)
_LIMITS = {"user_limit": integer(0, MAX_USER_LIMIT), "bitrate_kbps": integer(0, MAX_BITRATE_KBPS)}
CHANNEL = Named(
    "Channel",
    obj(
        {
            "id": ID,
            "name": _NAME,
            "type": _KIND,
            "position": integer(0),
            "topic": _TOPIC,
            "slow_mode_s": _SLOW_MODE,
            "parent_id": nullable(ID),
            "archived": BOOLEAN,
            **_LIMITS,
        }
    ),
)
_PERMISSIONS = array(choice(*names(OF_A_CHANNEL)))
_SETS = {"allow": _PERMISSIONS, "deny": _PERMISSIONS}
_TARGET = {"type": choice(ROLE, MEMBER), "target_id": ID}
_OVERRIDE = Named("Override", obj({**_TARGET, **_SETS}))
_CHANNELS = obj({"channels": array(CHANNEL, MAX_CHANNELS)})
_OF_OVERRIDES = ("forbidden", "rank_too_low", "unknown_channel", "unknown_member", "unknown_role")

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/channels",
            "The channels that one sees, in their order",
            _CHANNELS,
            query={"archived": BOOLEAN},
        ),
        Endpoint(
            "POST /api/channels",
            "Make a channel, at the end; with overrides from its first moment",
            CHANNEL,
            201,
            body=asked(
                {"name": _NAME, "type": _KIND},
                {
                    "topic": _TOPIC,
                    "slow_mode_s": _SLOW_MODE,
                    "parent_id": ID,
                    **_LIMITS,
                    "overrides": array(asked(_TARGET, _SETS), MAX_OVERRIDES),
                },
            ),
            refusals=[
                *("forbidden", "rank_too_low", "too_many"),
                *("unknown_channel", "unknown_member", "unknown_role"),
            ],
        ),
        Endpoint(
            "PUT /api/channels/order",
            "Put the channels that one sees into an order, each named once; and some into other categories",
            _CHANNELS,
            body=asked({"channel_ids": array(ID, MAX_CHANNELS)}, {"parents": mapping(nullable(ID))}),
            refusals=["unknown_channel"],
        ),
        Endpoint("GET /api/channels/{channel_id}", "One channel", CHANNEL, refusals=["unknown_channel"]),
        Endpoint(
            "PATCH /api/channels/{channel_id}",
            "Change a channel",
            CHANNEL,
            body=asked(
                {},
                {
                    "name": _NAME,
                    "topic": _TOPIC,
                    "slow_mode_s": _SLOW_MODE,
                    "parent_id": ID,
                    "archived": BOOLEAN,
                    **_LIMITS,
                },
            ),
            refusals=["unknown_channel"],
        ),
        Endpoint(
            "DELETE /api/channels/{channel_id}",
            "Delete a channel with all that is in it",
            refusals=["unknown_channel"],
        ),
        Endpoint(
            "GET /api/channels/{channel_id}/overrides",
            "What roles and members may do in a channel, against what they may elsewhere",
            obj({"overrides": array(_OVERRIDE)}),
            refusals=["unknown_channel"],
        ),
        Endpoint(
            "PUT /api/channels/{channel_id}/overrides/{type}/{target_id}",
            "Allow or deny a role or a member something in a channel",
            _OVERRIDE,
            body=asked({}, _SETS),
            refusals=_OF_OVERRIDES,
        ),
        Endpoint(
            "DELETE /api/channels/{channel_id}/overrides/{type}/{target_id}",
            "Take an override back",
            refusals=_OF_OVERRIDES,
        ),
    ],
    pushes=[
        Pushed("channel_created", "A channel is there, or has come into sight", CHANNEL, "who may view it"),
        Pushed("channel_updated", "A channel is different", CHANNEL, "who may view it"),
        Pushed(
            "channel_deleted",
            "A channel is gone, or out of sight",
            obj({"channel_id": ID}),
            "who could view it",
        ),
    ],
    welcome={"channels": array(CHANNEL, MAX_CHANNELS)},
)
