"""Handles requests and commands for settings."""

import time
from collections.abc import Sequence
from functools import cache

from svc.chat.access.endpoint_permissions import OWNER
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command
from svc.chat.endpoints import Endpoints, describe_feature, endpoint, schema_of
from svc.chat.schemas import Data, Endpoint, Event
from svc.chat.settings.responses import (
    AllSettings,
    ChangedSettings,
    ManagementHealth,
    SpecifiedSettings,
    VisibleSettings,
)
from svc.chat.settings.rules import Settings
from svc.chat.settings.setting_types import SettingsChanges, Values

_CHANGE = "Change some settings. If any value is invalid, nothing changes"


class SettingsEndpoints(Endpoints):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @endpoint(
        OWNER, "Return all settings", http="GET /api/settings", live="settings_get", returns=AllSettings
    )
    async def read(self) -> Values:
        return self._settings.current

    @endpoint(
        OWNER,
        _CHANGE,
        http="PATCH /api/settings",
        live="settings_change",
        refusals=("invalid_settings",),
        accepts=SettingsChanges,
        returns=AllSettings,
    )
    async def change(self, session: Session, body: dict[str, object]) -> Values:
        return await self._settings.apply(body, session.member_id, time.time())


@cache
def management() -> Sequence[Endpoint]:
    """Describe the management listener's endpoints, which the server's description does not include."""
    every = schema_of(AllSettings)
    return [
        Endpoint(
            "GET /management/settings",
            "Return the four settings of the specification",
            schema_of(SpecifiedSettings),
        ),
        Endpoint("GET /management/settings/all", "Return all settings", every),
        Endpoint(
            "PATCH /management/settings",
            _CHANGE,
            every,
            body=schema_of(SettingsChanges),
            refusals=["invalid_settings", "storage_unavailable"],
        ),
        Endpoint(
            "GET /management/health",
            "Check the health of the management listener",
            schema_of(ManagementHealth),
        ),
    ]


class SettingsCommands(Commands):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @command("settings_get")
    async def current(self) -> Values:
        return self._settings.current

    @command("settings_set")
    async def set(self, arguments: Data) -> Values:
        return await self._settings.apply(arguments, None, time.time())


DESCRIPTION = describe_feature(
    SettingsEndpoints,
    pushes=[
        Event(
            "settings_changed",
            "Settings changed. The owner gets all changed settings, members only those that `/info` shows",
            ChangedSettings,
            to="everybody",
        )
    ],
    welcome={"settings": VisibleSettings},
)
