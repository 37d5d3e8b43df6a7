"""Builds and connects the modules for joining: invites, sign-in, sessions and devices.

Part of `community`. Contains no business logic. See docs/http.md, "Signing in and devices".
"""

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from aiohttp import ClientSession

from svc.chat.access.tokens import AccessTokens
from svc.chat.authentication.devices import Devices
from svc.chat.authentication.endpoints import AuthenticationEndpoints
from svc.chat.authentication.founding_code import FoundingCode
from svc.chat.authentication.issuers import IssuerKeys, Provider
from svc.chat.authentication.join_policy import ServerJoinPolicy
from svc.chat.authentication.one_time_codes import new_code
from svc.chat.authentication.refresh import RefreshTokens
from svc.chat.authentication.returning_people import ReturningPeople
from svc.chat.authentication.rules import Authentication, NewcomerChecks
from svc.chat.authentication.sessions import Sessions
from svc.chat.authentication.trusted_issuers import TrustedIssuers
from svc.chat.config import ChatConfig
from svc.chat.endpoints import Endpoints
from svc.chat.invites.applications import Applications
from svc.chat.invites.attempt_limits import AttemptLimits
from svc.chat.invites.endpoints import InviteCommands, InviteEndpoints
from svc.chat.invites.invite_policy import InvitePolicy, InviteViews
from svc.chat.invites.rules import Invites
from svc.chat.members.roles import Roles
from svc.chat.members.rules import Members
from svc.chat.moderation.rules import Moderation
from svc.chat.services import Services
from svc.chat.settings.rules import Settings
from svc.chat.voice.moderation import silences

_code = partial(new_code, secrets.choice)


@dataclass(frozen=True, slots=True)
class AuthDependencies:
    """The dependencies of the modules for joining."""

    tokens: AccessTokens
    members: Members
    roles: Roles
    moderation: Moderation
    settings: Settings


class AuthModule:
    """The modules for joining. `session` is for HTTP requests to token issuers and sign-in providers."""

    def __init__(
        self,
        services: Services,
        config: ChatConfig,
        session: ClientSession,
        issuers: TrustedIssuers,
        community: AuthDependencies,
    ) -> None:
        database, hub, members = services.database, services.hub, community.members
        moderation, settings, self._limits = community.moderation, community.settings, config.invites
        self.invites = Invites(services, community.roles, config.invites.joins_per_hour, _code)
        self.applications = Applications(services)
        self.sessions = Sessions(
            services,
            members,
            community.tokens,
            RefreshTokens(config.jwt_secret),
            config.identity.refresh_ttl_days,
            secrets.token_bytes,
        )
        self.founding = FoundingCode(config.data_dir)
        self.provider = Provider(session, config.identity, time.monotonic)
        self._persons = ReturningPeople(database, config.data_dir, [moderation.punishes, silences])
        checks = NewcomerChecks(
            self.founding,
            ServerJoinPolicy(settings.invite_needed, self._invite_policy()),
            self._persons,
            moderation.refuse_banned,
            settings.require_rules,
            settings.landing,
        )
        keys = IssuerKeys(session, config.identity.oidc_issuer, time.monotonic)
        self.authentication = Authentication(services, issuers, keys, checks, members, self.sessions)
        # Sign a leaving member out everywhere.
        services.changes.member_removal.append(self.sessions.revoke_all)
        self.devices = Devices(services, members, self.sessions, _code)
        views = InviteViews(
            self.invites,
            services.directory,
            self._limits,
            self.founding.founds,
            hub.shown_members,
            time.monotonic,
        )
        self.endpoints: list[Endpoints] = [
            AuthenticationEndpoints(self.authentication, self.sessions, self.provider, self.devices),
            InviteEndpoints(self.invites, views, self.applications),
        ]
        self.commands = [InviteCommands(self.invites, self.applications, services.directory)]

    def _invite_policy(self) -> InvitePolicy:
        attempt_limits = AttemptLimits(self._limits)
        return InvitePolicy(self.invites, self.applications, attempt_limits, time.monotonic)

    async def load(self) -> None:
        """Load the stored state. Call this before loading the members."""
        await self.authentication.load(await self.invites.standing(time.time()))

    def tasks(self) -> list[Callable[[], Awaitable[None]]]:
        return [self._persons.run]
