"""The endpoints and commands for settings. The table in `values` defines their schema."""

import time
from collections.abc import Mapping

from svc.chat.access.catalogue import OWNER
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command
from svc.chat.endpoints import Requests, describe_feature, endpoint
from svc.chat.schemas import (
    BOOLEAN,
    ID,
    Data,
    Endpoint,
    Event,
    Named,
    Schema,
    choice,
    either,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.settings.rules import Settings
from svc.chat.settings.values import ACCEPTED, NAMES, NUMBERS, PUBLIC, SPECIFIED, TEXTS, Values


def _shown(name: str) -> Schema:
    if name in NUMBERS:
        return integer(0, NUMBERS[name])
    if name in TEXTS:
        # A variable may have more characters than the setting accepts.
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
_ALL = Named("Settings", obj(_SHOWN))
_SPECIFIED = obj({name: _SHOWN[name] for name in SPECIFIED})
_CHANGES = obj({}, {name: _taken(name) for name in NAMES})
_PUBLIC = {name: _SHOWN[name] for name in _SHOWN if name in PUBLIC}
_REST = {name: _SHOWN[name] for name in _SHOWN if name not in PUBLIC}
_CHANGE = "Change some settings. If any value is invalid, nothing changes"


class SettingsRequests(Requests):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @endpoint(OWNER, "Return all settings", http="GET /api/settings", live="settings_get", returns=_ALL)
    async def read(self) -> Values:
        return self._settings.current

    @endpoint(
        OWNER,
        _CHANGE,
        http="PATCH /api/settings",
        live="settings_change",
        refusals=("invalid_settings",),
        accepts=_CHANGES,
        returns=_ALL,
    )
    async def change(self, session: Session, body: dict[str, object]) -> Values:
        return await self._settings.apply(body, session.member_id, time.time())


# On a separate port, and not part of the server's own API description.
MANAGEMENT = [
    Endpoint("GET /management/settings", "Return the four settings of the specification", _SPECIFIED),
    Endpoint("GET /management/settings/all", "Return all settings", _ALL),
    Endpoint(
        "PATCH /management/settings",
        _CHANGE,
        _ALL,
        body=_CHANGES,
        refusals=["invalid_settings", "storage_unavailable"],
    ),
    Endpoint(
        "GET /management/health", "Check the health of the management listener", obj({"ok": {"const": True}})
    ),
]


class SettingsCommands(Commands):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @command("settings_get")
    async def current(self) -> Values:
        return self._settings.current

    @command("settings_set")
    async def set(self, arguments: Data) -> object:
        return await self._settings.apply(arguments, None, time.time())


DESCRIPTION = describe_feature(
    SettingsRequests,
    pushes=[
        Event(
            "settings_changed",
            "Settings changed. The owner gets all changed settings, members only those that `/info` shows",
            obj({}, _SHOWN),
            to="everybody",
        )
    ],
    welcome={"settings": obj(_PUBLIC, _REST)},
)
