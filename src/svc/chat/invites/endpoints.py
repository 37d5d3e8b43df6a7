"""Handles requests and commands for invites and applications."""

import time
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import ANYONE, on_server
from svc.chat.access.endpoint_permissions import MEMBER as ANY_MEMBER
from svc.chat.access.permissions import MEMBER
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command, find_channel
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.http import client_address
from svc.chat.invites.applications import Applications
from svc.chat.invites.invite_policy import InviteViews
from svc.chat.invites.responses import (
    MAX_PAGE,
    AllInvites,
    ApplicationPage,
    Decision,
    InviteView,
    Newcomer,
    Newcomers,
)
from svc.chat.invites.rules import Invites
from svc.chat.invites.store import MAX_REASON_CHARACTERS, PENDING, Application, Invite, State
from svc.chat.schemas import Event, Id

MAX_USES = 100_000
# The longest lifetime of an invite. An invite without a lifetime does not expire.
MAX_LIFETIME_S = 366 * 24 * 60 * 60
_DECIDERS = "members who may manage invites"
_MANAGER = on_server(P.MANAGE_INVITES)

_Reason = Annotated[str, Meta(max_length=MAX_REASON_CHARACTERS)]


class NewInvite(Request):
    role_id: Id | None = None
    max_uses: Annotated[int, Meta(ge=1, le=MAX_USES)] | None = None
    lifetime_s: Annotated[int, Meta(ge=1, le=MAX_LIFETIME_S)] | None = None
    channel_id: Id | None = None
    approval: bool | None = None


class InviteCode(Request):
    # A founding code with an invite has 33 characters.
    code: Annotated[str, Meta(min_length=1, max_length=128)]


class ApplicationsQuery(Request):
    state: State = PENDING
    after: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50


class Refusal(Request):
    reason: _Reason | None = None


class InviteEndpoints(Endpoints):
    def __init__(self, invites: Invites, views: InviteViews, applications: Applications) -> None:
        self._invites = invites
        self._views = views
        self._applications = applications

    @endpoint(
        ANY_MEMBER,
        "List your valid invites. With `manage_invites`, also those of others whose role you could give",
        http="GET /api/invites",
    )
    async def all(self, session: Session) -> AllInvites:
        return AllInvites(await self._invites.visible(session.member_id, time.time()))

    @endpoint(
        on_server(P.CREATE_INVITES),
        "Create an invite, optionally with a role below your rank. New members first see "
        "`channel_id`. With `approval`, they wait until somebody approves them",
        http="POST /api/invites",
        refusals=("forbidden", "rank_too_low", "too_many", "unknown_channel", "unknown_role"),
        status=201,
    )
    async def create(self, session: Session, body: NewInvite) -> Invite:
        return await self._invites.create(
            session.member_id,
            body.role_id or MEMBER,
            body.max_uses,
            body.lifetime_s,
            time.time(),
            channel_id=body.channel_id,
            approval=bool(body.approval),
        )

    # The code is sent in the body, because proxies log URLs.
    @endpoint(
        ANYONE,
        "Preview an invite before joining. `SERVER_INVITE_MAX_RETRIES` limits wrong codes per address",
        http="POST /api/invites/view",
        refusals=("invite_invalid", "too_many_invite_attempts"),
    )
    async def view(self, http_request: web.Request, body: InviteCode) -> InviteView:
        return await self._views.view(body.code, client_address(http_request).limited_as, time.time())

    @endpoint(
        ANY_MEMBER,
        "Revoke an invite that you can see",
        http="DELETE /api/invites/{invite_id}",
        refusals=("unknown_invite",),
    )
    async def revoke(self, session: Session, invite_id: Id) -> None:
        await self._invites.revoke(session.member_id, invite_id, time.time())

    @endpoint(
        ANY_MEMBER,
        "List present members who joined with an invite that you can see",
        http="GET /api/invites/{invite_id}/members",
        refusals=("unknown_invite",),
    )
    async def list_newcomers(self, session: Session, invite_id: Id) -> Newcomers:
        newcomers = await self._invites.list_newcomers(session.member_id, invite_id)
        return Newcomers([Newcomer(member.id, member.nickname, at_ms) for member, at_ms in newcomers])

    @endpoint(
        _MANAGER,
        "List pending, or recently approved or refused, applications, oldest first",
        http="GET /api/applications",
    )
    async def applications(self, query: ApplicationsQuery) -> ApplicationPage:
        return ApplicationPage(*await self._applications.page(query.state, query.after or "", query.limit))

    @endpoint(
        _MANAGER,
        "Approve a pending or refused application for a role that you could give",
        http="POST /api/applications/{application_id}/approve",
        refusals=("forbidden", "rank_too_low", "unknown_application"),
    )
    async def approve(self, session: Session, application_id: Id) -> None:
        await self._applications.approve(session.member_id, application_id, time.time())

    @endpoint(
        _MANAGER,
        "Refuse an application with a reason for the applicant",
        http="POST /api/applications/{application_id}/refuse",
        refusals=("unknown_application",),
    )
    async def refuse(self, session: Session, application_id: Id, body: Refusal) -> None:
        await self._applications.refuse(session.member_id, application_id, body.reason or "", time.time())


class InviteCommands(Commands):
    """The commands for invites. For both uses and seconds, 0 means no limit."""

    def __init__(self, invites: Invites, applications: Applications, directory: Directory) -> None:
        self._invites = invites
        self._applications = applications
        self._directory = directory

    @command("invite_create")
    async def create(
        self,
        role_id: Id = MEMBER,
        max_uses: Annotated[int, Meta(ge=0, le=1_000_000)] = 0,
        lifetime_s: Annotated[int, Meta(ge=0, le=10 * 365 * 24 * 60 * 60)] = 0,
        channel: Id | None = None,
        approval: bool = False,
    ) -> Invite:
        return await self._invites.create(
            None,
            role_id,
            max_uses or None,
            lifetime_s or None,
            time.time(),
            channel_id=channel and find_channel(self._directory, channel),
            approval=approval,
        )

    @command("invite_list")
    async def list(self) -> AllInvites:
        return AllInvites(await self._invites.visible(None, time.time()))

    @command("invite_revoke")
    async def revoke(self, invite_id: Id) -> None:
        await self._invites.revoke(None, invite_id, time.time())

    @command("application_list")
    async def applications(self) -> ApplicationPage:
        """Return the oldest pending applications."""
        return ApplicationPage(*await self._applications.page(PENDING, "", MAX_PAGE))

    @command("application_approve")
    async def approve(self, application_id: Id) -> None:
        await self._applications.approve(None, application_id, time.time())

    @command("application_refuse")
    async def refuse(self, application_id: Id, reason: _Reason = "") -> None:
        await self._applications.refuse(None, application_id, reason, time.time())


DESCRIPTION = describe_feature(
    InviteEndpoints,
    pushes=[
        Event("application_created", "A person is waiting for approval", Application, _DECIDERS),
        Event("application_decided", "An application was decided", Decision, _DECIDERS),
    ],
)
