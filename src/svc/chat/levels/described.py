"""What notification levels say of themselves, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Event,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
)
from svc.chat.levels.rules import LEVELS, MAX_MUTE_S

_LEVEL = choice(*LEVELS)
_CHOICE = Named(
    "Notifications",
    obj(
        {
            # Null: for all channels that have no choice of their own.
            "channel_id": nullable(ID),
            "level": nullable(_LEVEL),
            "muted": BOOLEAN,
            "muted_until_ms": nullable(TIME_MS),
        }
    ),
)
_ALL = {"notifications": array(_CHOICE)}
# Without `mute_for_s`, or with 0, a mute lasts until it is taken back.
_SET: dict[str, Schema] = {"level": _LEVEL, "muted": BOOLEAN, "mute_for_s": integer(0, MAX_MUTE_S)}
_QUIET: dict[str, Schema] = {"quiet": BOOLEAN}
_INVISIBLE: dict[str, Schema] = {"invisible": BOOLEAN}

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/me/notifications", "What one wants to be told of", obj(_ALL)),
        Endpoint(
            "PUT /api/me/notifications",
            "Choose a notification level for all channels, or mute them",
            _CHOICE,
            body=asked({}, _SET),
        ),
        Endpoint(
            "PUT /api/me/quiet",
            "Do not be disturbed on any device, or be so again",
            obj(_QUIET),
            body=asked(_QUIET),
        ),
        Endpoint(
            "PUT /api/me/invisible",
            "Look to others as if one were away, or not any more",
            obj(_INVISIBLE),
            body=asked(_INVISIBLE),
        ),
        Endpoint(
            "PUT /api/channels/{channel_id}/notifications",
            "Choose a notification level for a channel, or mute it",
            _CHOICE,
            body=asked({}, _SET),
            refusals=["unknown_channel"],
        ),
    ],
    events=[
        Event(
            "notifications_set",
            "Choose a notification level for a channel, or for all without one",
            asked({}, {"channel_id": ID, **_SET}),
            _CHOICE,
            ["unknown_channel"],
        ),
        Event("quiet_set", "Do not be disturbed on any device, or be so again", asked(_QUIET), obj(_QUIET)),
        Event(
            "invisible_set",
            "Look to others as if one were away, or not any more",
            asked(_INVISIBLE),
            obj(_INVISIBLE),
        ),
    ],
    pushes=[
        Pushed("notifications_changed", "What one wants to be told of has changed", _CHOICE, to="the member"),
        Pushed("quiet_changed", "One is to be disturbed, or is not", obj(_QUIET), to="the member"),
        Pushed(
            "invisible_changed", "Others see that one is there, or do not", obj(_INVISIBLE), to="the member"
        ),
    ],
    welcome={**_ALL, **_QUIET, **_INVISIBLE},
)
