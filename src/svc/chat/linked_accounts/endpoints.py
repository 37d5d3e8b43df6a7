"""Handles requests for links to accounts on other servers.

To verify a link, a member of both servers sends a request from the sandboxed frame that also requests unread
counts. The request uses the same token. See docs/servers.md.
"""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import MEMBER, PERSON, URL_HOLDER
from svc.chat.access.tokens import Session
from svc.chat.authentication.sessions import Throttle
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.http import answer, client_address
from svc.chat.linked_accounts.rules import (
    MAX_CONFIRMATIONS,
    MAX_LINKS,
    Confirmation,
    LinkedAccount,
    LinkedAccounts,
)
from svc.chat.linked_accounts.statements import Digest, Statement
from svc.chat.schemas import Id, Response
from svc.chat.unread_counts.counts_tokens import MAX_TOKEN_CHARACTERS, CountsTokens

_OF_MEMBER, _CONFIRMATIONS = "/api/members/{member_id}/linked-accounts", "/api/me/account-confirmations"
# The rate limit per member. Each click on a link in a profile sends one request.
BURST, PER_S = 20, 0.5


class NewLink(Request):
    """The statement that this device signed, and the one that the other account's device signed."""

    own: Statement
    other: Statement


class Links(Response):
    links: Annotated[Sequence[LinkedAccount], Meta(max_length=MAX_LINKS)]


class Confirmations(Response):
    confirmations: Annotated[Sequence[Confirmation], Meta(max_length=MAX_CONFIRMATIONS)]


class StatementToVerify(Request):
    token: Annotated[str, Meta(max_length=MAX_TOKEN_CHARACTERS)]
    digest: Digest


class ConfirmedAccount(Response):
    """The member who confirmed the statement, and the thumbprint of the key that signed it."""

    member_id: Id
    nickname: str
    key: Digest


class VerifiedStatement(Response):
    """The account that confirms the statement, or null if no account confirms it."""

    account: ConfirmedAccount | None


class LinkedAccountEndpoints(Endpoints):
    """The endpoints for linked accounts. `permits` returns whether web pages from an origin may use this
    server at a host.
    """

    def __init__(
        self,
        accounts: LinkedAccounts,
        tokens: CountsTokens,
        directory: Directory,
        permits: Callable[[str | None, str], bool],
    ) -> None:
        self._accounts, self._tokens = accounts, tokens
        self._directory, self._permits = directory, permits
        self._verifications = Throttle(BURST, PER_S)

    @endpoint(
        MEMBER,
        "List the accounts on other servers that a member's profile shows",
        http=f"GET {_OF_MEMBER}",
        refusals=("unknown_member",),
    )
    async def of_member(self, member_id: Id) -> Links:
        return Links(await self._accounts.links(member_id))

    @endpoint(
        PERSON,
        "Show on your profile that you are the same person as a member of another server, with "
        "`change_nickname`. It replaces the link to the same server",
        http="POST /api/me/linked-accounts",
        refusals=("forbidden", "in_timeout", "link_invalid", "too_many"),
        status=201,
    )
    async def link(self, session: Session, http_request: web.Request, body: NewLink) -> LinkedAccount:
        def is_ours(origin: str) -> bool:
            return self._permits(origin, http_request.host)

        return await self._accounts.link(session, body.own, body.other, is_ours, time.time())

    @endpoint(
        MEMBER,
        "Remove a linked account: your own, or with `manage_nicknames` that of a member of lower rank",
        http=f"DELETE {_OF_MEMBER}/{{link_id}}",
        refusals=("forbidden", "in_timeout", "rank_too_low", "unknown_linked_account", "unknown_member"),
    )
    async def unlink(self, session: Session, member_id: Id, link_id: Id) -> None:
        await self._accounts.unlink(session.member_id, member_id, link_id, time.time())

    @endpoint(PERSON, "List the confirmations that you gave for other servers", http=f"GET {_CONFIRMATIONS}")
    async def confirmations(self, session: Session) -> Confirmations:
        return Confirmations(await self._accounts.confirmations(session.member_id))

    @endpoint(
        PERSON,
        "Confirm a statement that this device signed for another server, by its SHA-256 digest. Members "
        "who are on both servers can then verify it",
        http=f"PUT {_CONFIRMATIONS}/{{digest}}",
        refusals=("link_invalid", "too_many"),
    )
    async def confirm(self, session: Session, digest: Digest) -> None:
        await self._accounts.confirm(session, digest, time.time())

    @endpoint(PERSON, "Withdraw a confirmation", http=f"DELETE {_CONFIRMATIONS}/{{digest}}")
    async def withdraw(self, session: Session, digest: Digest) -> None:
        await self._accounts.withdraw(session.member_id, digest)

    @endpoint(
        URL_HOLDER,
        "Return who confirmed a statement, to a page with the counts token of a member. Pages of every "
        "origin may read the response",
        http="POST /api/account-confirmations",
        refusals=("token_invalid", "too_many_requests"),
        returns=VerifiedStatement,
    )
    async def verify(self, http_request: web.Request, body: StatementToVerify) -> web.StreamResponse:
        now = time.monotonic()
        member_id = self._tokens.verify(body.token, client_address(http_request).limited_as, now)
        self._verifications.take(member_id, now)
        confirmed, account = await self._accounts.confirmed(body.digest), None
        if confirmed is not None:
            nickname = self._directory.member(confirmed.member_id).nickname
            account = ConfirmedAccount(confirmed.member_id, nickname, confirmed.thumbprint)
        response = answer(VerifiedStatement(account))
        # Sent only after the token has been verified, as for unread counts.
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response


DESCRIPTION = describe_feature(LinkedAccountEndpoints)
