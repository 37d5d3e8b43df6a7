"""What the settings say of themselves, for people and for programs."""

from collections.abc import Mapping

from svc.chat.described import (
    BOOLEAN,
    ID,
    Described,
    Endpoint,
    Event,
    Pushed,
    Schema,
    choice,
    either,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.settings.values import ACCEPTED, NAMES, NUMBERS, PUBLIC, TEXTS


def _shown(name: str) -> Schema:
    if name in NUMBERS:
        return integer(0, NUMBERS[name])
    if name in TEXTS:
        # A variable may have more characters than the setting takes.
        return nullable(ID) if name == "welcomeChannelId" else string()
    accepted = ACCEPTED[name]
    return BOOLEAN if True in accepted else choice(*(str(value) for value in accepted.values()))


def _taken(name: str) -> Schema:
    if name in NUMBERS:
        return either(integer(0, NUMBERS[name]), string(9, 1, pattern="^[0-9]+$"))
    if name in TEXTS:
        return nullable(string(TEXTS[name]))
    return either(BOOLEAN, choice("on", "off")) if True in ACCEPTED[name] else _shown(name)


_SHOWN: Mapping[str, Schema] = {name: _shown(name) for name in NAMES}
_ALL = obj(_SHOWN)
_CHANGES = {**obj({}, {name: _taken(name) for name in NAMES})}
_PUBLIC = {name: _SHOWN[name] for name in _SHOWN if name in PUBLIC}
_REST = {name: _SHOWN[name] for name in _SHOWN if name not in PUBLIC}

# On a port of their own; not part of the server's own document.
MANAGEMENT = [
    Endpoint("GET /management/settings", "The settings of the server", _ALL),
    Endpoint(
        "PATCH /management/settings",
        "Change some; one bad value and nothing is changed",
        _ALL,
        body=_CHANGES,
        refusals=["invalid_settings", "storage_unavailable"],
    ),
    Endpoint("GET /management/health", "It answers", obj({"ok": {"const": True}})),
]

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/settings", "The settings of the server", _ALL),
        Endpoint(
            "PATCH /api/settings",
            "Change some; one bad value and nothing is changed",
            _ALL,
            body=_CHANGES,
            refusals=["invalid_settings"],
        ),
    ],
    events=[
        Event("settings_get", "The settings of the server", reply=_ALL),
        Event("settings_change", "Change some", _CHANGES, _ALL, ["invalid_settings"]),
    ],
    pushes=[
        Pushed(
            "settings_changed",
            "What is different; members hear of those that `/info` says to anybody, the owner of all",
            obj({}, _SHOWN),
            to="everybody",
        )
    ],
    welcome={"settings": obj(_PUBLIC, _REST)},
)
