"""Handles requests for notification levels, over HTTP and on the live socket."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.access.endpoint_permissions import MEMBER, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.notification_levels.rules import (
    MAX_MUTE_S,
    DoNotDisturb,
    Invisible,
    Level,
    LevelChoice,
    NotificationLevels,
    Notifications,
)
from svc.chat.schemas import Event, Id


@dataclass(frozen=True, slots=True)
class AllNotifications:
    notifications: Sequence[Notifications]


class NewLevel(Request):
    """A notification setting. If `mute_for_s` is 0 or omitted, the mute does not expire."""

    level: Level | None = None
    muted: bool | None = None
    mute_for_s: Annotated[int, Meta(ge=0, le=MAX_MUTE_S)] | None = None

    def made_at(self, now: float) -> LevelChoice:
        if not self.muted:
            return LevelChoice(self.level)
        until_ms = int((now + self.mute_for_s) * 1000) if self.mute_for_s else None
        return LevelChoice(self.level, muted=True, muted_until_ms=until_ms)


class NewLevelAnywhere(NewLevel):
    channel_id: Id | None = None


class SetQuiet(Request):
    quiet: bool


class SetInvisible(Request):
    invisible: bool


class NotificationLevelEndpoints(Endpoints):
    def __init__(self, levels: NotificationLevels) -> None:
        self._levels = levels

    @endpoint(MEMBER, "List your notification levels", http="GET /api/me/notifications")
    async def all(self, session: Session) -> AllNotifications:
        return AllNotifications(self._levels.of(session.member_id))

    @endpoint(
        MEMBER, "Set the notification level of all channels, or mute them", http="PUT /api/me/notifications"
    )
    async def choose_everywhere(self, session: Session, body: NewLevel) -> Notifications:
        return await self._levels.choose(session.member_id, None, body.made_at(time.time()))

    @endpoint(
        in_channel(P.VIEW_CHANNEL),
        "Set the notification level of a channel, or mute it",
        http="PUT /api/channels/{channel_id}/notifications",
        refusals=("unknown_channel",),
    )
    async def choose(self, session: Session, channel_id: Id, body: NewLevel) -> Notifications:
        return await self._levels.choose(session.member_id, channel_id, body.made_at(time.time()))

    @endpoint(
        MEMBER,
        "Set the notification level of a channel. Without a channel, set that of all channels",
        live="notifications_set",
        refusals=("unknown_channel",),
    )
    async def choose_anywhere(self, session: Session, body: NewLevelAnywhere) -> Notifications:
        return await self._levels.choose(session.member_id, body.channel_id, body.made_at(time.time()))

    @endpoint(
        MEMBER,
        "Turn do-not-disturb on or off for all devices. Others can see it",
        http="PUT /api/me/quiet",
        live="quiet_set",
    )
    async def set_quiet(self, session: Session, body: SetQuiet) -> DoNotDisturb:
        return await self._levels.set_quiet(session.member_id, body.quiet)

    @endpoint(
        MEMBER,
        "Turn invisibility on or off. Others see you offline, but typing, messages, reactions and "
        "calls still show you",
        http="PUT /api/me/invisible",
        live="invisible_set",
    )
    async def set_invisible(self, session: Session, body: SetInvisible) -> Invisible:
        return await self._levels.set_invisible(session.member_id, body.invisible)


DESCRIPTION = describe_feature(
    NotificationLevelEndpoints,
    pushes=[
        Event(
            "notifications_changed",
            "Your notification levels changed",
            Notifications,
            to="the member",
        ),
        Event("quiet_changed", "Do-not-disturb was turned on or off", DoNotDisturb, to="the member"),
        Event(
            "invisible_changed",
            "Invisibility was turned on or off",
            Invisible,
            to="the member",
        ),
    ],
    welcome={
        "notifications": Sequence[Notifications],
        "quiet": bool,
        "invisible": bool,
    },
)
