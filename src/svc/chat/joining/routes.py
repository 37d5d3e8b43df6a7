"""`/api/auth/…`, `/api/me/devices…` and the recovery of a member: signing in, and by what devices."""

import time
from collections.abc import Mapping

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.fields import identifier, optional_text
from svc.chat.http import answer, asker, body, client_address, nothing
from svc.chat.joining.devices import Devices
from svc.chat.joining.proof import MAX_TOKEN_CHARACTERS
from svc.chat.joining.refresh import MAX_TOKEN_CHARACTERS as MAX_REFRESH_TOKEN_CHARACTERS
from svc.chat.joining.rules import Application, Joining
from svc.chat.joining.sessions import Sessions
from svc.chat.joining.throttle import Throttle

MAX_CODE_CHARACTERS = 128
MAX_DEVICE_NAME_CHARACTERS = 64
# A crowd behind one address comes at once, such as a school's. Verifying a proof takes 0.2 ms
# (measured), so that the lasting rate is a hundredth of a core.
BURST, PER_S = 1000, 50.0


class JoiningRoutes:
    def __init__(self, joining: Joining, sessions: Sessions) -> None:
        self._joining = joining
        self._sessions = sessions
        self._throttles = {path: Throttle(BURST, PER_S) for path in ("challenge", "join", "refresh")}

    def table(self) -> list[web.RouteDef]:
        return [
            web.post("/api/auth/challenge", self.challenge),
            web.post("/api/auth/join", self.join),
            web.post("/api/auth/refresh", self.refresh),
            web.post("/api/auth/logout", self.logout),
        ]

    async def challenge(self, request: web.Request) -> web.Response:
        self._count("challenge", request)
        return answer(self._joining.challenge(time.time()))

    async def join(self, request: web.Request) -> web.Response:
        self._count("join", request)
        application = _application(await body(request), request)
        tokens, member = await self._joining.join(application, time.time())
        return answer({**tokens.described(), "member": member.described()})

    async def refresh(self, request: web.Request) -> web.Response:
        self._count("refresh", request)
        tokens = await self._sessions.refresh(_refresh_token(await body(request)), time.time())
        return answer(tokens.described())

    async def logout(self, request: web.Request) -> web.Response:
        self._count("refresh", request)
        await self._sessions.end(_refresh_token(await body(request)), time.time())
        return nothing()

    def _count(self, path: str, request: web.Request) -> None:
        self._throttles[path].take(client_address(request).limited_as, time.monotonic())


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
    def text(name: str, most: int) -> str:
        return (optional_text(data, name, most=most) or "").strip()

    nickname = data.get("nickname")
    if not isinstance(nickname, str | None):
        raise ChatError("invalid_nickname")
    return Application(
        certificate=text("certificate", MAX_TOKEN_CHARACTERS),
        id_token=text("id_token", MAX_TOKEN_CHARACTERS),
        assertion=text("assertion", MAX_TOKEN_CHARACTERS),
        nickname=nickname or "",
        invite_code=text("invite_code", MAX_CODE_CHARACTERS),
        link_code=text("link_code", MAX_CODE_CHARACTERS),
        recovery_code=text("recovery_code", MAX_CODE_CHARACTERS),
        device_name=text("device_name", MAX_DEVICE_NAME_CHARACTERS),
        address=client_address(request),
        host=request.host,
    )


def _refresh_token(data: Mapping[str, object]) -> str:
    return optional_text(data, "refresh_token", most=MAX_REFRESH_TOKEN_CHARACTERS) or ""
