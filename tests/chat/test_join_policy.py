"""The join policy admits some people without an invite and rejects others even with one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from svc.chat.access.client_address import ClientAddress
from svc.chat.authentication.join_policy import Admission, Applicant, ServerJoinPolicy
from svc.chat.errors import ChatError
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.kit.device import Device

HERE = ClientAddress("127.0.0.1", direct=True)


class ByCode:
    """An invite check that admits anyone with the code."""

    def admit(self, connection: object, applicant: Applicant) -> Admission:
        if applicant.invite_code != "code":
            raise ChatError("invite_invalid" if applicant.invite_code else "invite_required")
        return Admission()


def policy(needed: bool) -> ServerJoinPolicy:
    return ServerJoinPolicy(lambda nearby: needed, ByCode())


@pytest.mark.parametrize(
    ("needed", "code", "refusal"),
    [
        (True, "", "invite_required"),
        (True, "other", "invite_invalid"),
        (True, "code", None),
        (False, "", None),
        (False, "other", None),
        (False, "code", None),
    ],
)
def test_the_join_policy_combines_settings_and_invites(needed: bool, code: str, refusal: str | None) -> None:
    connection: Any = None

    def admit() -> Admission:
        applicant = Applicant(code, "key", HERE, nearby=True, now=0.0)
        return policy(needed).admit(connection, applicant)

    if refusal is None:
        assert admit().role_ids == ("member",)
    else:
        with pytest.raises(ChatError, match=refusal):
            admit()


@pytest.fixture(params=["0", "1"])
async def settled(request: pytest.FixtureRequest, variables: dict[str, str]) -> AsyncIterator[Any]:
    """Run a server that has an owner, with and without a proxy in front."""
    variables["SVC_TRUSTED_PROXY_HOPS"] = request.param
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        yield chat, community


async def _join(chat: ChatServer, headers: dict[str, str], **fields: str) -> str:
    """Try to join. Return the error code, or an empty string on success."""
    proof = await Device().proof(chat.http, chat.address)
    body = {**proof, "nickname": "Ada", **fields}
    async with chat.http.post("/api/auth/join", json=body, headers=headers) as response:
        return str((await response.json()).get("error", ""))


async def test_an_open_server_accepts_everybody(settled: Any) -> None:
    chat, community = settled
    assert await _join(chat, {}) == "invite_required"
    await community.settings.apply({"joinPolicy": "open"}, None, 0.0)
    assert await _join(chat, {}) == ""
    assert await _join(chat, {"X-Forwarded-For": "1.1.1.1"}) == ""
    assert await _join(chat, {}, invite_code="of no use") == ""


async def test_only_direct_connections_from_the_local_network_need_no_invite(settled: Any) -> None:
    chat, community = settled
    await community.settings.apply({"lanOpen": True}, None, 0.0)
    assert await _join(chat, {}) == ""
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert await _join(chat, {name: "192.168.0.1"}) == "invite_required"
    await community.settings.apply({"lanOpen": False}, None, 0.0)
    assert await _join(chat, {}) == "invite_required"


async def test_a_full_server_accepts_no_new_members(variables: dict[str, str]) -> None:
    variables["MAX_MEMBERS"] = "2"
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        await community.settings.apply({"joinPolicy": "open"}, None, 0.0)
        assert await _join(chat, {}) == ""
        assert await _join(chat, {}) == "server_full"
