"""Response types for invites and applications. `store` defines `Invite` and `Application`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.invites.store import Application, Invite, State
from svc.chat.schemas import Id, Natural, Response, TimeMs

MAX_PAGE = 200


class AllInvites(Response):
    invites: Sequence[Invite]


class Newcomer(Response):
    id: Id
    nickname: str
    came_at_ms: TimeMs


class Newcomers(Response):
    members: Sequence[Newcomer]


class ApplicationPage(Response):
    applications: Annotated[Sequence[Application], Meta(max_length=MAX_PAGE)]
    next: Id | None


class Decision(Response):
    application_id: Id
    state: State
    decided_by: Id | None


class InviteView(Response):
    """The preview of an invite. `founder` means that the person who uses the code becomes the owner."""

    founder: bool
    members: Natural
    online: Natural
    approval: bool
    expires_at_ms: TimeMs | None
