"""Requests that name a charset or contain invalid text cause no server errors.

JSON and names are always decoded as UTF-8.

See RFC 8259 section 8.1, RFC 7578 section 5.1 and RFC 8187.
"""

import codecs
import json
from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote

import pytest
from aiohttp import helpers

from svc.chat.access.endpoint_permissions import ENDPOINTS
from svc.chat.http import disposition, parameters
from tests.attacks.test_malformed_http import admin_listener
from tests.chat.chat_server import ChatServer
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.pictures import encoded, scene
from tests.kit.raw_http import RawResponse, raw_connection

CODECS = (
    *("punycode", "utf-7", "unicode_escape", "raw_unicode_escape", "idna", "utf-16", "utf-32", "cp037"),
    *("latin-1", "rot13", "zlib", "base64", "undefined", "mbcs", "nonsense", "a\u00e9", '"punycode"'),
)
# Bodies that no UTF-8 JSON parser accepts.
NO_JSON = {
    "latin-1": '{"nickname": "é"}'.encode("latin-1"),
    "utf-7": b"+AHs-+AH0-",
    "utf-16": json.dumps({"a": "b"}).encode("utf-16"),
    "utf-32": json.dumps({"a": "b"}).encode("utf-32-le"),
    "a surrogate in UTF-8": b'{"nickname": "\xed\xa0\x80"}',
    "a lone surrogate, escaped": b'{"nickname": "\\ud800"}',
    "a lone surrogate as a key": b'{"\\uDFFF": 1}',
    "half a character": b'{"nickname": "\xe2\x82"}',
    "a byte order mark": codecs.BOM_UTF8 + b"{}",
    "NaN": b'{"a": NaN}',
    "no end of brackets": b"[" * 60_000,
    "an endless number": b'{"a": ' + b"9" * 60_000 + b"}",
    "nothing": b"",
    "bytes": bytes(range(256)),
}


@pytest.fixture
async def hook(members: MembersByRole) -> AsyncIterator[Hook]:
    async with hook_of(members.owner) as made:
        yield made


async def send(address: str, method: str, path: str, body: bytes, **headers: str) -> RawResponse:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    async with raw_connection(address) as raw:
        return await raw.ask(method, path, [*lines, f"Content-Length: {len(body)}"], body)


async def test_the_charset_of_a_request_is_ignored(members: MembersByRole) -> None:
    for codec in CODECS:
        async with hook_of(members.owner) as hook:
            await require_ignored(codec, hook, members)


async def require_ignored(codec: str, hook: Hook, members: MembersByRole) -> None:
    """Check that the charset of JSON and form requests is ignored. The bodies sent here are valid UTF-8."""
    address = hook.chat.address
    headers = {"Authorization": f"Bearer {members.member.token}"}
    of_json = {**headers, "Content_Type": f"application/json; charset={codec}"}
    of_form = {**headers, "Content_Type": f"application/x-www-form-urlencoded; charset={codec}"}
    body = json.dumps({"text": "+AGE- é \\x61"}, ensure_ascii=False).encode()
    channel = "/api/channels/general/messages"
    assert (await send(address, "POST", channel, body, **of_json)).json()["text"] == "+AGE- é \\x61"
    assert (await send(address, "POST", hook.path, body, **of_json)).status == 200
    form = b"payload=" + quote(body).encode()
    assert (await send(address, "POST", f"{hook.path}/slack", form, **of_form)).status == 200
    form = b"payload_json=" + quote(b'{"content": "a"}').encode()
    assert (await send(address, "POST", f"{hook.path}/discord", form, **of_form)).status == 204
    arrived = [(await hook.arrived())["text"] for _ in range(4)]
    assert arrived == ["+AGE- é \\x61", "+AGE- é \\x61", "+AGE- é \\x61", "a"], codec


async def test_a_body_that_is_not_utf_8_json_gets_a_400_with_a_clear_message(
    hook: Hook, members: MembersByRole
) -> None:
    for fault in NO_JSON:
        await require_bad_request(fault, hook, members)


async def require_bad_request(fault: str, hook: Hook, members: MembersByRole) -> None:
    address, body = hook.chat.address, NO_JSON[fault]
    headers = {"Authorization": f"Bearer {members.owner.token}", "Content_Type": "application/json"}
    words = {"error": "invalid_json", "message": "The request body must be a JSON object in UTF-8"}
    for method, path in (
        *(("POST", "/api/auth/join"), ("PATCH", "/api/settings")),
        *(("POST", "/api/channels"), ("POST", "/api/webhooks")),
    ):
        answer = await send(address, method, path, body, **headers)
        assert answer.status == 400, (fault, path)
        # Endpoints without this field ignore the number, whatever its value.
        assert answer.json() == words or fault == "an endless number", (fault, path)
    # Webhooks ignore a byte order mark, and report where in the JSON a lone surrogate is.
    for path in ("", "/discord", "/slack", "/github"):
        answer = await send(address, "POST", hook.path + path, body, X_GitHub_Event="ping", **headers)
        assert answer.status in (200, 204, 400, 429), (fault, path, answer)


async def test_the_management_listener_gives_the_same_error(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with admin_listener(variables, tmp_path_factory.mktemp("none")) as address:
        headers = {"Authorization": "Bearer token", "Content_Type": "application/json; charset=utf-7"}
        for fault, body in NO_JSON.items():
            answer = await send(address, "PATCH", "/management/settings", body, **headers)
            assert (answer.status, answer.json()["error"]) == (400, "invalid_json"), fault


async def test_a_body_with_broken_chunks_gets_a_400(hook: Hook, members: MembersByRole) -> None:
    token = f"Authorization: Bearer {members.member.token}"
    for path in ("/api/auth/join", "/api/channels/general/messages", hook.path):
        async with raw_connection(hook.chat.address) as raw:
            answer = await raw.ask("POST", path, [token, "Transfer-Encoding: chunked"], b"zz\r\n{}\r\n")
            assert answer.status == 400, path


FILE_NAMES = {
    'filename="a.png"': "a.png",
    "filename*=utf-8''%C3%A9.png": "é.png",
    "filename*=punycode''" + "a" * 4_000: None,
    "filename*=unicode_escape''%5Cud800": None,
    "filename*=utf-7''+2AA-": None,
    "filename*=zlib''x": None,
    "filename*=nonsense''x": None,
    "filename*0*=punycode''x": None,
    'filename="\udcff"': None,
}


async def test_file_names_are_decoded_as_utf_8(members: MembersByRole) -> None:
    for written, name in FILE_NAMES.items():
        part = f'Content-Disposition: form-data; name="file"; {written}'.encode("utf-8", "surrogateescape")
        answer = await upload(members, part + b"\r\nContent-Type: image/png; charset=punycode")
        assert answer.status in ((201,) if name else (201, 400)), (written, answer)
        if name:
            assert answer.json()["name"] == name


async def test_the_charset_field_of_a_form_is_ignored(members: MembersByRole) -> None:
    """Check the form field `_charset_`. It once set the charset of all later fields, and a multi-byte charset
    caused an error.
    """
    answer = await upload(members, b'Content-Disposition: form-data; name="_charset_"')
    assert answer.status == 201


async def upload(members: MembersByRole, head: bytes) -> RawResponse:
    body = b"--b\r\n" + head + b"\r\n\r\n" + encoded(scene(), "PNG") + b"\r\n--b--\r\n"
    headers = {
        "Authorization": f"Bearer {members.member.token}",
        "Content_Type": "multipart/form-data; boundary=b",
    }
    return await send(members.chat.address, "POST", "/api/channels/general/uploads", body, **headers)


NASTY = ("%ED%A0%80", "%FF%FE", "%00", "\udced\udca0\udc80", "\udcff", "%u0041", "é", "%F4%90%80%80")
NASTY_HEADERS: Mapping[str, str] = {
    **dict.fromkeys(("Origin", "Host", "Authorization", "Range", "Cookie"), "\udced\udca0\udc80"),
    "X-Forwarded-For": "\udcff, 1.2.3.4",
    "X-Forwarded-Proto": "\udcff",
    "If-None-Match": "\udcff",
    "Upload-Metadata": "filename \udcff,\udcff",
    "Upload-Length": "\u0661",
    "Upload-Offset": "\u0661",
    "Tus-Resumable": "\udcff",
    "X-GitHub-Event": "\udcff",
    "Content-Type": "multipart/form-data; boundary=\udcff",
}


# WebSocket endpoints, and requests that would end the member's session.
LEFT_OUT = {"GET /live", "GET /sfu/client", "DELETE /api/me", "POST /api/me/leave", "POST /api/auth/logout"}


async def test_an_undecodable_url_causes_no_internal_error(members: MembersByRole) -> None:
    """Put invalid text into each path and into the query."""
    for route in ENDPOINTS.keys() - LEFT_OUT:
        method, _, path = route.partition(" ")
        for nasty in NASTY:
            address = "/".join(nasty if part.startswith("{") else part for part in path.split("/"))
            query = "&".join(f"{name}={nasty}" for name in ("query", "before", "limit", "name", nasty))
            await require_no_fault(members, method, f"{address}?{query}")


async def test_an_undecodable_header_causes_no_internal_error(members: MembersByRole) -> None:
    """Put invalid text into every header that the server reads."""
    for route in ENDPOINTS.keys() - LEFT_OUT:
        method, _, path = route.partition(" ")
        address = path.replace("{", "").replace("}", "")
        for name, value in NASTY_HEADERS.items():
            await require_no_fault(members, method, address, f"{name}: {value}")


async def test_no_endpoint_lets_the_http_library_parse_a_content_type(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parsing takes half a second for 8,000 semicolons.
    parsed, parse = [], helpers.parse_content_type

    def recorded(header: str) -> object:
        parsed.extend([header] if header.startswith("a/b") else [])
        return parse(header)

    monkeypatch.setattr(helpers, "parse_content_type", recorded)
    for route in ENDPOINTS.keys() - LEFT_OUT:
        method, _, path = route.partition(" ")
        await require_no_fault(members, method, path.replace("{", "").replace("}", ""), "Content-Type: a/b;;")
        assert parsed == [], route


async def require_no_fault(members: MembersByRole, method: str, path: str, *headers: str) -> None:
    token = [f"Authorization: Bearer {members.owner.token}"]
    if any(header.startswith("Authorization") for header in headers):
        token = []
    async with raw_connection(members.chat.address) as raw:
        await raw.send(b"")
        answer = await raw.ask(method, path, [*token, *headers, "Content-Length: 2"], b"{}")
        assert answer.status < 500, (method, path, headers, answer)


def test_header_parameters_are_decoded_as_utf_8() -> None:
    assert parameters('a; b=c; d="e\\"f"; g*=latin-1\'en\'%C3%A9') == {"b": "c", "d": 'e"f', "g": "é"}
    assert disposition(b"content-disposition: form-data; name=a\r\nX: y") == {"name": "a"}
    assert disposition(b"X: y") == {}


async def test_text_frames_must_be_utf_8(chat: ChatServer) -> None:
    for text in (b"\xed\xa0\x80", b"\xff", b'{"event": "\xe2\x82"}'):
        async with raw_connection(chat.address) as raw:
            await raw.upgrade("/live")
            await raw.send(b"\x81" + bytes((0x80 | len(text),)) + bytes(4) + text)
            assert await raw.closing() == (1007, "The message is not UTF-8")
    async with chat.member("Ada") as ada:
        for escaped in ('"\\ud800"', '{"event": "typing", "id": 1, "data": {"channel_id": "\\udfff"}}'):
            await ada.ws.send_str(escaped)
            assert (await ada.receive())["data"]["error"] == "invalid_json"
