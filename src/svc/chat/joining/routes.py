"""`/api/auth/…`, `/api/me/devices…` and the recovery of a member: signing in, and by what devices."""

import time
from collections.abc import Mapping
from dataclasses import replace

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.fields import identifier, optional_text, text
from svc.chat.http import answer, asker, body, client_address, local_ip, nothing
from svc.chat.joining.devices import Devices
from svc.chat.joining.proof import MAX_TOKEN_CHARACTERS
from svc.chat.joining.provider import Provider
from svc.chat.joining.refresh import MAX_TOKEN_CHARACTERS as MAX_REFRESH_TOKEN_CHARACTERS
from svc.chat.joining.rules import Application, Joining
from svc.chat.joining.server_addresses import Dialled
from svc.chat.joining.sessions import Sessions
from svc.chat.joining.throttle import Throttle

MAX_CODE_CHARACTERS = 128
MAX_DEVICE_NAME_CHARACTERS = 64
# What somebody says to those who decide on who may join.
MAX_MESSAGE_CHARACTERS = 500
# A crowd behind one address comes at once, such as a school's. Beyond it members still sign in.
BURST, PER_S = 1000, 50.0
# An authorization code is a few hundred characters at most; some providers' are JWTs.
MAX_AUTHORIZATION_CODE_CHARACTERS = 4096
# RFC 7636 section 4.1.
LEAST_VERIFIER_CHARACTERS, MAX_VERIFIER_CHARACTERS = 43, 128
MAX_ADDRESS_CHARACTERS = 2048
# Each makes us ask the provider: a class behind one address signs in at once, then one a second.
EXCHANGE_BURST, EXCHANGES_PER_S = 60, 1.0


class JoiningRoutes:
    def __init__(self, joining: Joining, sessions: Sessions, provider: Provider) -> None:
        self._joining = joining
        self._sessions = sessions
        self._provider = provider
        self._exchanges = Throttle(EXCHANGE_BURST, EXCHANGES_PER_S)
        self._joins = Throttle(BURST, PER_S)

    def table(self) -> list[web.RouteDef]:
        return [
            web.post("/api/auth/challenge", self.challenge),
            web.get("/api/auth/provider", self.provider),
            web.post("/api/auth/exchange", self.exchange),
            web.post("/api/auth/join", self.join),
            web.post("/api/auth/refresh", self.refresh),
            web.post("/api/auth/logout", self.logout),
        ]

    async def challenge(self, request: web.Request) -> web.Response:
        return answer(self._joining.challenge(client_address(request).limited_as, time.time()))

    async def provider(self, request: web.Request) -> web.Response:
        return answer(await self._provider.described())

    async def exchange(self, request: web.Request) -> web.Response:
        data = await body(request)
        code = text(data, "code", most=MAX_AUTHORIZATION_CODE_CHARACTERS, least=1)
        verifier = text(data, "code_verifier", most=MAX_VERIFIER_CHARACTERS, least=LEAST_VERIFIER_CHARACTERS)
        redirect_uri = text(data, "redirect_uri", most=MAX_ADDRESS_CHARACTERS, least=1)
        self._exchanges.take(client_address(request).limited_as, time.monotonic())
        return answer({"id_token": await self._provider.id_token(code, verifier, redirect_uri)})

    async def join(self, request: web.Request) -> web.Response:
        application = _application(await body(request), request)
        try:
            self._joins.take(application.address.limited_as, time.monotonic())
        except ChatError:
            application = replace(application, members_only=True)
        joined = await self._joining.join(application, time.time())
        told = {"member": joined.member.described(), "channel_id": joined.channel_id}
        return answer({**joined.tokens.described(), **told})

    async def refresh(self, request: web.Request) -> web.Response:
        tokens = await self._sessions.refresh(_refresh_token(await body(request)), time.time())
        return answer(tokens.described())

    async def logout(self, request: web.Request) -> web.Response:
        await self._sessions.end(_refresh_token(await body(request)), time.time())
        return nothing()


class DeviceRoutes:
    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def table(self) -> list[web.RouteDef]:
        return [
            web.get("/api/me/devices", self.list),
            web.post("/api/me/devices/link", self.link),
            web.delete("/api/me/devices/{device_id}", self.unlink),
            web.post("/api/members/{member_id}/recovery", self.recover),
        ]

    async def list(self, request: web.Request) -> web.Response:
        return answer({"devices": await self._devices.of(asker(request))})

    async def link(self, request: web.Request) -> web.Response:
        return answer(await self._devices.link(asker(request), time.time()), status=201)

    async def unlink(self, request: web.Request) -> web.Response:
        await self._devices.unlink(asker(request), identifier(request.match_info, "device_id"))
        return nothing()

    async def recover(self, request: web.Request) -> web.Response:
        member_id = identifier(request.match_info, "member_id")
        return answer(await self._devices.recover(asker(request), member_id, time.time()), status=201)


def _application(data: Mapping[str, object], request: web.Request) -> Application:
    def given(name: str, most: int) -> str:
        return (optional_text(data, name, most=most) or "").strip()

    nickname = data.get("nickname")
    if not isinstance(nickname, str | None):
        raise ChatError("invalid_nickname")
    return Application(
        certificate=given("certificate", MAX_TOKEN_CHARACTERS),
        id_token=given("id_token", MAX_TOKEN_CHARACTERS),
        assertion=given("assertion", MAX_TOKEN_CHARACTERS),
        nickname=nickname or "",
        invite_code=given("invite_code", MAX_CODE_CHARACTERS),
        link_code=given("link_code", MAX_CODE_CHARACTERS),
        recovery_code=given("recovery_code", MAX_CODE_CHARACTERS),
        device_name=given("device_name", MAX_DEVICE_NAME_CHARACTERS),
        message=given("message", MAX_MESSAGE_CHARACTERS),
        rules_accepted=given("rules_accepted", MAX_CODE_CHARACTERS),
        address=client_address(request),
        dialled=Dialled(request.host, local_ip(request), request.headers.get("Origin")),
    )


def _refresh_token(data: Mapping[str, object]) -> str:
    return optional_text(data, "refresh_token", most=MAX_REFRESH_TOKEN_CHARACTERS) or ""
