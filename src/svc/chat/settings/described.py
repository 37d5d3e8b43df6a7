"""What the settings say of themselves, for people and for programs."""

from collections.abc import Mapping

from svc.chat.described import BOOLEAN, Described, Endpoint, Event, Pushed, Schema, choice, either, obj
from svc.chat.settings.values import ACCEPTED, PUBLIC


def _shown(name: str) -> Schema:
    accepted = ACCEPTED[name]
    return BOOLEAN if True in accepted else choice(*(str(value) for value in accepted.values()))


def _taken(name: str) -> Schema:
    return either(BOOLEAN, choice("on", "off")) if True in ACCEPTED[name] else _shown(name)


_SHOWN: Mapping[str, Schema] = {name: _shown(name) for name in ACCEPTED}
_ALL = obj(_SHOWN)
_CHANGES = {**obj({}, {name: _taken(name) for name in ACCEPTED})}
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
            "What is different; who is no owner hears of joinPolicy and lanOpen only",
            obj({}, _SHOWN),
            to="everybody",
        )
    ],
    welcome={"settings": obj(_PUBLIC, _REST)},
)
