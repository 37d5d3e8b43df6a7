"""Checks the response of each endpoint and live request to members of each role against a table.

The table is written out here instead of being derived from `endpoint_permissions`, so that each checks the
other. Some targets do not exist: permitted members get a "not found" error, and others get a permission
error.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS
from svc.chat.access.permissions import BUILT_IN, names
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole

# Requirements that are not permissions.
ANYONE, MEMBER, OWNER, AUTHOR = "anyone", "member", "owner", "author"
# Requires that the member is not in timeout.
UNPUNISHED = "unpunished"
# The permissions of each built-in role.
GUEST_MAY = ["view_channel", "send_messages", "add_reactions", "join_voice", "speak", "change_nickname"]
MEMBER_MAY = [*GUEST_MAY, "attach_files", "share_video", "share_screen", "create_invites"]
MODERATOR_MAY = [
    *MEMBER_MAY,
    *("manage_messages", "mention_everyone", "mute_members", "move_members", "manage_nicknames"),
    *("timeout_members", "kick_members", "ban_members", "view_reports", "manage_invites"),
]
EVERYTHING = [
    *MODERATOR_MAY,
    *("manage_webhooks", "view_audit_log", "manage_emoji", "manage_channels", "manage_roles"),
    "manage_bots",
    "manage_automod",
]
MAY: Mapping[str, list[str]] = {
    "owner": EVERYTHING,
    "admin": EVERYTHING,
    "moderator": MODERATOR_MAY,
    "member": MEMBER_MAY,
    "guest": GUEST_MAY,
    "in timeout": ["view_channel"],
}
STRANGER = "stranger"

# The requirement of each endpoint: a permission, or one of the five constants above.
CLUSTER_ENDPOINTS = {"GET /cluster/relay", "GET /cluster/ready"}
ENDPOINT_NEEDS: Mapping[str, str] = {
    "GET /health": ANYONE,
    "GET /metrics": ANYONE,
    "GET /info": ANYONE,
    "GET /icon": ANYONE,
    "GET /reference": ANYONE,
    "GET /openapi.json": ANYONE,
    "GET /openapi/management.json": ANYONE,
    "GET /openapi/webhooks.json": ANYONE,
    "GET /asyncapi.json": ANYONE,
    "GET /": ANYONE,
    "GET /web/{path}": ANYONE,
    "GET /sw.js": ANYONE,
    "GET /manifest.webmanifest": ANYONE,
    "GET /counts-frame": ANYONE,
    "POST /api/counts": ANYONE,
    "GET /api/me/counts-token": MEMBER,
    "POST /api/me/counts-token": MEMBER,
    "DELETE /api/me/counts-token": MEMBER,
    "GET /api/members/{member_id}/linked-accounts": MEMBER,
    "DELETE /api/members/{member_id}/linked-accounts/{link_id}": "manage_nicknames",
    "POST /api/me/linked-accounts": "change_nickname",
    "GET /api/me/account-confirmations": MEMBER,
    "PUT /api/me/account-confirmations/{digest}": MEMBER,
    "DELETE /api/me/account-confirmations/{digest}": MEMBER,
    "POST /api/account-confirmations": ANYONE,
    "GET /live": ANYONE,
    "GET /media/{name}": ANYONE,
    "GET /sfu/client": ANYONE,
    "POST /api/auth/challenge": ANYONE,
    "GET /api/auth/provider": ANYONE,
    "POST /api/auth/exchange": ANYONE,
    "POST /api/invites/view": ANYONE,
    "POST /api/auth/join": ANYONE,
    "POST /api/auth/refresh": ANYONE,
    "POST /api/auth/logout": ANYONE,
    "GET /api/me/devices": MEMBER,
    "POST /api/me/devices/link": MEMBER,
    "POST /api/me/devices/recovery": MEMBER,
    "DELETE /api/me/devices/{device_id}": MEMBER,
    "POST /api/members/{member_id}/recovery": OWNER,
    "POST /api/me/leave": MEMBER,
    "GET /api/me/export": MEMBER,
    "DELETE /api/me": MEMBER,
    "GET /api/me/blocks": MEMBER,
    "PUT /api/me/blocks/{member_id}": MEMBER,
    "DELETE /api/me/blocks/{member_id}": MEMBER,
    "GET /api/me/permissions": MEMBER,
    "GET /api/me/notifications": MEMBER,
    "PUT /api/me/notifications": MEMBER,
    "PUT /api/me/quiet": MEMBER,
    "PUT /api/me/invisible": MEMBER,
    "PUT /api/channels/{channel_id}/notifications": "view_channel",
    "GET /api/me/push": MEMBER,
    "PUT /api/me/push": MEMBER,
    "DELETE /api/me/push": MEMBER,
    "GET /api/settings": OWNER,
    "PATCH /api/settings": OWNER,
    "GET /api/bots": "manage_bots",
    "POST /api/bots": "manage_bots",
    "POST /api/bots/{member_id}/token": "manage_bots",
    "DELETE /api/bots/{member_id}": "manage_bots",
    "GET /api/health": OWNER,
    "GET /api/storage": OWNER,
    "GET /api/backups": OWNER,
    "POST /api/backups": OWNER,
    "GET /api/backups/{name}": OWNER,
    "DELETE /api/backups/{name}": OWNER,
    "POST /api/backups/{name}/link": OWNER,
    "GET /api/backup-links/{token}": ANYONE,
    "GET /api/members": MEMBER,
    "GET /api/members/{member_id}": MEMBER,
    "PATCH /api/members/{member_id}": "manage_nicknames",
    "PUT /api/members/{member_id}/status": "manage_nicknames",
    "PUT /api/members/{member_id}/roles/{role_id}": "manage_roles",
    "DELETE /api/members/{member_id}/roles/{role_id}": "manage_roles",
    "POST /api/members/{member_id}/owner": OWNER,
    "GET /api/roles": MEMBER,
    "POST /api/roles": "manage_roles",
    "PUT /api/roles/order": "manage_roles",
    "PATCH /api/roles/{role_id}": "manage_roles",
    "DELETE /api/roles/{role_id}": "manage_roles",
    "GET /api/channels": MEMBER,
    "POST /api/channels": "manage_channels",
    "PUT /api/channels/order": "manage_channels",
    "GET /api/channels/{channel_id}": "view_channel",
    "PATCH /api/channels/{channel_id}": "manage_channels",
    "DELETE /api/channels/{channel_id}": "manage_channels",
    "GET /api/channels/{channel_id}/overrides": "manage_channels",
    "PUT /api/channels/{channel_id}/overrides/{type}/{target_id}": "manage_channels",
    "DELETE /api/channels/{channel_id}/overrides/{type}/{target_id}": "manage_channels",
    "POST /api/members/{member_id}/kick": "kick_members",
    "PUT /api/members/{member_id}/timeout": "timeout_members",
    "DELETE /api/members/{member_id}/timeout": "timeout_members",
    "GET /api/members/{member_id}/moderation": "view_reports",
    "GET /api/automod/rules": "manage_automod",
    "POST /api/automod/rules": "manage_automod",
    "PUT /api/automod/rules/{rule_id}": "manage_automod",
    "DELETE /api/automod/rules/{rule_id}": "manage_automod",
    "POST /api/automod/trial": "manage_automod",
    "GET /api/bans": "ban_members",
    "PUT /api/bans/{member_id}": "ban_members",
    "DELETE /api/bans/{member_id}": "ban_members",
    "GET /api/reports": "view_reports",
    "POST /api/reports": MEMBER,
    "POST /api/reports/{report_id}/resolve": "view_reports",
    "GET /api/webhooks": "manage_webhooks",
    "POST /api/webhooks": "manage_webhooks",
    "GET /api/webhooks/{webhook_id}": "manage_webhooks",
    "PATCH /api/webhooks/{webhook_id}": "manage_webhooks",
    "DELETE /api/webhooks/{webhook_id}": "manage_webhooks",
    "GET /api/webhooks/{webhook_id}/posts": "manage_webhooks",
    "PUT /api/webhooks/{webhook_id}/picture": "manage_webhooks",
    "DELETE /api/webhooks/{webhook_id}/picture": "manage_webhooks",
    "POST /api/webhooks/{webhook_id}/{token}": ANYONE,
    "POST /api/webhooks/{webhook_id}/{token}/discord": ANYONE,
    "POST /api/webhooks/{webhook_id}/{token}/slack": ANYONE,
    "POST /api/webhooks/{webhook_id}/{token}/github": ANYONE,
    "GET /api/invites": MEMBER,
    "POST /api/invites": "create_invites",
    "DELETE /api/invites/{invite_id}": MEMBER,
    "GET /api/invites/{invite_id}/members": MEMBER,
    "GET /api/applications": "manage_invites",
    "POST /api/applications/{application_id}/approve": "manage_invites",
    "POST /api/applications/{application_id}/refuse": "manage_invites",
    "POST /api/channels/{channel_id}/uploads": "attach_files",
    "GET /api/uploads": MEMBER,
    "GET /api/uploads/{upload_id}": MEMBER,
    "PATCH /api/uploads/{upload_id}": MEMBER,
    "DELETE /api/uploads/{upload_id}": MEMBER,
    "PUT /api/uploads/{upload_id}/alt": MEMBER,
    "POST /api/me/avatar": UNPUNISHED,
    "DELETE /api/me/avatar": MEMBER,
    "POST /api/icon": OWNER,
    "DELETE /api/icon": OWNER,
    "GET /api/jobs": OWNER,
    "POST /api/jobs/{job_id}/retry": OWNER,
    "GET /api/emoji": MEMBER,
    "POST /api/emoji": "manage_emoji",
    "PATCH /api/emoji/{emoji_id}": "manage_emoji",
    "DELETE /api/emoji/{emoji_id}": "manage_emoji",
    "GET /api/drafts": MEMBER,
    "PUT /api/channels/{channel_id}/draft": "view_channel",
    "DELETE /api/channels/{channel_id}/draft": "view_channel",
    "GET /api/private/device": MEMBER,
    "PUT /api/private/device": MEMBER,
    "POST /api/private/key-packages": MEMBER,
    "GET /api/private/welcomes": MEMBER,
    "DELETE /api/private/welcomes/{welcome_id}": MEMBER,
    "GET /api/private/conversations": MEMBER,
    "POST /api/private/conversations": "send_messages",
    "GET /api/private/conversations/{conversation_id}": MEMBER,
    "PUT /api/private/conversations/{conversation_id}/members/{member_id}": "send_messages",
    "DELETE /api/private/conversations/{conversation_id}/members/{member_id}": "send_messages",
    "POST /api/private/conversations/{conversation_id}/leave": MEMBER,
    "POST /api/private/conversations/{conversation_id}/lost": MEMBER,
    "POST /api/private/conversations/{conversation_id}/key-packages": MEMBER,
    "POST /api/private/conversations/{conversation_id}/commits": MEMBER,
    "POST /api/private/conversations/{conversation_id}/messages": "send_messages",
    "GET /api/private/conversations/{conversation_id}/log": MEMBER,
    "POST /api/private/conversations/{conversation_id}/reports": MEMBER,
    "POST /api/private/conversations/{conversation_id}/files": "send_messages",
    "GET /api/private/conversations/{conversation_id}/files/{file_id}": MEMBER,
    "DELETE /api/private/conversations/{conversation_id}/files/{file_id}": MEMBER,
    "GET /api/audit": "view_audit_log",
    "GET /api/channels/{channel_id}/messages": "view_channel",
    "POST /api/channels/{channel_id}/messages": "send_messages",
    "GET /api/channels/{channel_id}/messages/{message_id}": "view_channel",
    "PATCH /api/channels/{channel_id}/messages/{message_id}": "send_messages",
    "DELETE /api/channels/{channel_id}/messages/{message_id}": AUTHOR,
    "GET /api/channels/{channel_id}/messages/{message_id}/edits": AUTHOR,
    "PUT /api/channels/{channel_id}/messages/{message_id}/reactions/{emoji}": "add_reactions",
    "DELETE /api/channels/{channel_id}/messages/{message_id}/reactions/{emoji}": "add_reactions",
    "DELETE /api/channels/{channel_id}/messages/{message_id}/previews": AUTHOR,
    "GET /api/channels/{channel_id}/pins": "view_channel",
    "PUT /api/channels/{channel_id}/pins/{message_id}": "manage_messages",
    "DELETE /api/channels/{channel_id}/pins/{message_id}": "manage_messages",
    "POST /api/channels/{channel_id}/typing": "send_messages",
    "POST /api/channels/{channel_id}/read": "view_channel",
    "GET /api/search": MEMBER,
    "GET /api/me/mentions": MEMBER,
    "GET /api/me/threads": MEMBER,
    "PUT /api/channels/{channel_id}/messages/{message_id}/follow": "view_channel",
    "DELETE /api/channels/{channel_id}/messages/{message_id}/follow": "view_channel",
}
EVENT_NEEDS: Mapping[str, str] = {
    "ping": MEMBER,
    "reauthenticate": MEMBER,
    "settings_get": OWNER,
    "settings_change": OWNER,
    "message_send": "send_messages",
    "message_edit": "send_messages",
    "message_delete": AUTHOR,
    "message_edits": AUTHOR,
    "reaction_add": "add_reactions",
    "reaction_remove": "add_reactions",
    "previews_remove": AUTHOR,
    "pin_add": "manage_messages",
    "pin_remove": "manage_messages",
    "pins": "view_channel",
    "typing": "send_messages",
    "read": "view_channel",
    "history": "view_channel",
    "search": MEMBER,
    "mentions": MEMBER,
    "threads": MEMBER,
    "thread_follow": "view_channel",
    "thread_unfollow": "view_channel",
    "drafts": MEMBER,
    "private_send": "send_messages",
    "private_log": MEMBER,
    "private_call_decline": MEMBER,
    "in_sight": MEMBER,
    "idle": MEMBER,
    "notifications_set": MEMBER,
    "quiet_set": MEMBER,
    "invisible_set": MEMBER,
    "draft_put": "view_channel",
    "draft_delete": "view_channel",
    "voice_mute_self": MEMBER,
    "voice_hand": "join_voice",
    "voice_lower_hand": "mute_members",
    "voice_send": "join_voice",
    "voice_react": "add_reactions",
    "voice_stop_screen": "mute_members",
    "voice_mute": "mute_members",
    "voice_disconnect": "move_members",
    "voice_move": "move_members",
    # This request comes last, because it makes the server ask the fake SFU for participants, and the SFU
    # reports none.
    "voice_join": "join_voice",
}
# These requests end the membership.
PARTING = frozenset({"POST /api/me/leave", "DELETE /api/me"})
REFUSALS = frozenset({"auth_required", "token_invalid", "forbidden", "in_timeout"})


def expected(needs: str, who: str) -> str:
    """Return the expected error code, or an empty string for a permitted request."""
    if needs == ANYONE:
        return ""
    if who == STRANGER:
        return "auth_required"
    if needs == UNPUNISHED and who != "in timeout":
        return ""
    if needs == MEMBER or needs in MAY[who] or (needs == OWNER and who == "owner"):
        return ""
    if needs == AUTHOR:  # All roles in this table may write messages.
        return "" if "send_messages" in MAY[who] else "forbidden"
    return "in_timeout" if who == "in timeout" and needs != OWNER else "forbidden"


def refusal(code: str, needs: str) -> str:
    """Return the error code if the response reports a missing permission, otherwise an empty string."""
    if needs == AUTHOR and code == "in_timeout":
        return "forbidden"
    return code if code in REFUSALS else ""


def test_the_table_has_every_endpoint_and_event_in_the_catalogue() -> None:
    # Only a cluster's owner node has the endpoint for relays.
    assert ENDPOINT_NEEDS.keys() | CLUSTER_ENDPOINTS == ENDPOINTS.keys()
    assert EVENT_NEEDS.keys() == EVENTS.keys()
    assert {role: set(MAY[role]) for role in BUILT_IN} == {
        role.id: set(names(role.permissions)) for role in BUILT_IN.values()
    }


async def everybody(chat: ChatServer, members: MembersByRole) -> dict[str, HttpMember]:
    quiet = await newcomer(chat, "Quiet")
    await members.owner.done("PUT", f"/api/members/{quiet.id}/timeout", {"duration_s": 3600})
    stranger = HttpMember(chat, quiet.device, "", "")
    return {**members.by_role, "in timeout": quiet, STRANGER: stranger}


def body_for(message_id: str) -> dict[str, object]:
    """Return a body that is valid for all requests and harmless for requests that succeed."""
    return {
        "channel_id": "general",
        "message_id": message_id,
        "member_id": "nobody",
        "nickname": "Named",
        "text": "said",
        "emoji": "👍",
        "query": "said",
        "last_read": message_id,
        "nonce": "a nonce",
        "name": "",
        "duration_s": 0,
        "muted": False,
        "deafened": False,
        "raised": False,
        "camera": False,
        "screen": False,
        "to_channel_id": "lobby",
        "own": "a statement",
        "other": "another statement",
    }


async def message_of(person: HttpMember, or_else: HttpMember) -> str:
    """Post a message as `person`, or as `or_else` if this person may not write. Return the message's id."""
    path, body = "/api/channels/general/messages", {"text": "hello"}
    status, answer = await person.ask("POST", path, body)
    if status >= 400:
        answer = await or_else.done("POST", path, body)
    return str(answer.get("message", answer)["id"])


async def test_every_endpoint_responds_to_each_role_as_listed(
    chat: ChatServer, members: MembersByRole
) -> None:
    wrong = []
    persons = await everybody(chat, members)
    for endpoint, needs in ENDPOINT_NEEDS.items():
        if endpoint in PARTING:
            continue
        method, template = endpoint.split(" ")
        for who, person in persons.items():
            message_id = await message_of(person, members.owner) if "{message_id}" in template else ""
            path = template.format(
                **dict.fromkeys(("member_id", "role_id", "device_id", "report_id", "invite_id"), "nobody"),
                application_id="nobody",
                **dict.fromkeys(("webhook_id", "token"), "nobody"),
                path="nothing",
                name="nothing",
                **dict.fromkeys(("upload_id", "job_id", "emoji_id", "rule_id", "link_id"), "nobody"),
                digest="A" * 43,
                **dict.fromkeys(("conversation_id", "welcome_id", "file_id"), "nobody"),
                type="role",
                target_id="nobody",
                emoji="👍",
                channel_id="nothing" if needs == "manage_channels" else "general",
                message_id=message_id,
            )
            if "?" not in path and endpoint == "GET /api/search":
                path += "?query=hello"
            body = body_for(message_id) if method in ("POST", "PUT", "PATCH") else None
            status, answer = await person.ask(method, path, body)
            code = answer.get("error", "") if isinstance(answer, dict) else ""
            if refusal(code, needs) != expected(needs, who) or status == 500:
                wrong.append((endpoint, who, status, code))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("endpoint", sorted(PARTING))
async def test_every_member_may_leave(chat: ChatServer, members: MembersByRole, endpoint: str) -> None:
    method, path = endpoint.split(" ")
    for who, person in (await everybody(chat, members)).items():
        status, answer = await person.ask(method, path, {})
        code = answer.get("error", "") if isinstance(answer, dict) else ""
        assert (code if code in REFUSALS else "") == expected(MEMBER, who), (who, status, code)


async def test_every_live_request_responds_to_each_role_as_listed(
    chat: ChatServer, members: MembersByRole, sfu: FakeSfu
) -> None:
    wrong = []
    for who, person in (await everybody(chat, members)).items():
        if who == STRANGER:
            continue
        caller = await guest_in_a_call(members, sfu, f"Caller of {who}")
        message_ids = [await message_of(person, members.owner) for _ in EVENT_NEEDS]
        async with chat.member("", person.token) as page:
            for (event, needs), message_id in zip(EVENT_NEEDS.items(), message_ids, strict=True):
                data = body_for(message_id)
                if event.startswith("voice_"):
                    data |= {"channel_id": "lobby", "member_id": caller.id}
                if event == "reauthenticate":
                    data = {"access_token": person.token}
                code = await code_of(page, event, data)
                if refusal(code, needs) != expected(needs, who):
                    wrong.append((event, who, code))
    assert not wrong, "\n".join(map(str, wrong))


async def guest_in_a_call(members: MembersByRole, sfu: FakeSfu, nickname: str) -> HttpMember:
    """Put a new guest into the lobby's call as a target for other members' requests."""
    caller = await newcomer(members.chat, nickname)
    await members.owner.done("PUT", f"/api/members/{caller.id}/roles/guest")
    await members.owner.done("DELETE", f"/api/members/{caller.id}/roles/member")
    async with members.live("owner") as [owner]:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", caller.id)
        while nickname not in await owner.people("lobby"):
            pass
    return caller


async def code_of(page: LiveMember, event: str, data: dict[str, object]) -> str:
    reply: dict[str, Any] = await page.ask(event, **data)
    code = str(reply["data"]["error"]) if reply["event"] == "error" else ""
    assert code != "internal_error", event
    # Guests send the request about another guest, so a rank error also means that they lack the permission.
    return "forbidden" if code == "rank_too_low" else code


async def test_an_unauthenticated_client_learns_nothing_on_the_live_socket(chat: ChatServer) -> None:
    for event in EVENT_NEEDS:
        async with chat.http.ws_connect("/live") as ws:
            page = LiveMember(ws, "")
            page.hello = (await page.receive())["data"]
            reply = await page.ask(event, channel_id="lobby")
            assert (reply["event"], reply["data"]["error"]) == ("error", "auth_required")
