"""Handles the requests for private conversations: devices, conversations, messages and files."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.base.database import Database
from svc.chat.access.endpoint_permissions import PERSON, Audience, Requirement
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import media_type, received_chunks, refuse_compressed
from svc.chat.moderation.reports import ReportFiled, RevealedMessage
from svc.chat.private_conversations import store
from svc.chat.private_conversations.devices import PrivateDevices
from svc.chat.private_conversations.devices_store import MAX_KEY_PACKAGES, PackageBytes
from svc.chat.private_conversations.files import PrivateFiles
from svc.chat.private_conversations.framing import MAX_RECIPIENTS
from svc.chat.private_conversations.franking import COMMITMENT_BYTES, KEY_BYTES, Proof, Sending
from svc.chat.private_conversations.responses import (
    ClaimedPackage,
    KeysLow,
    PackageStock,
    PrivateChanged,
    PrivateLog,
    PrivateSent,
)
from svc.chat.private_conversations.rules import MAX_CONVERSATIONS, Commit, PrivateConversations
from svc.chat.schemas import Event, Id, Natural, Response, string

# Files a report and returns its id. The arguments are the reporter, the author, the reporter's text, the
# revealed content and the time.
File = Callable[[str, str, str, RevealedMessage, float], Awaitable[str]]
# Serves a stored object. The arguments are the request, the object's key and the Cache-Control value.
Serve = Callable[[web.Request, str, str], Awaitable[web.StreamResponse]]

MAX_STATEMENT_CHARACTERS = 2048
MAX_WELCOMES = 50
MAX_REPORT_CHARACTERS = 1000
FILE_TYPE = "application/octet-stream"
# The maximum size of a message's content, including its file names, as JSON.
MAX_SAID_CHARACTERS = store.MAX_MESSAGE_BYTES
# The maximum size of a report in UTF-8. The report contains the content as a JSON string, so quotation marks
# and backslashes are escaped once more.
MAX_REPORT_BODY_BYTES = 4 * MAX_SAID_CHARACTERS
# The maximum size of a batch of key packages, or of a commit with its Welcome, in base64 and JSON.
MAX_BODY_BYTES = (store.MAX_COMMIT_BYTES + store.MAX_WELCOME_BYTES) * 4 // 3 + 32 * 1024

_SENDER = Requirement(Audience.MEMBER, P.SEND_MESSAGES, person=True)
_PRIVATE = "/api/private"
_CONVERSATION_PATH = _PRIVATE + "/conversations/{conversation_id}"
_UNKNOWN = ("unknown_conversation",)
_OPEN = ("private_refused", "too_many", "unknown_conversation", "unknown_member")
_NOT_IN_GROUP = ("no_device", "unknown_conversation")
_MEMBERS = "the conversation's members"

_Seq = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_Devices = Annotated[Sequence[Id], Meta(max_length=MAX_RECIPIENTS)]


class NewStatement(Request):
    statement: Annotated[str, Meta(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)]


class NewPackages(Request):
    key_packages: Annotated[Sequence[PackageBytes], Meta(max_length=MAX_KEY_PACKAGES)] | None = None
    last_resort: PackageBytes | None = None


class NewConversation(Request):
    members: Annotated[Sequence[Id], Meta(max_length=store.MAX_PEOPLE)]


class PackagesQuery(Request):
    devices: _Devices


class NewCommit(Request):
    commit: Annotated[bytes, Meta(min_length=1, max_length=store.MAX_COMMIT_BYTES)]
    welcome: store.WelcomeBytes | None = None
    removed: _Devices | None = None
    after: _Seq | None = None


class NewPrivateMessage(Request):
    """A message to post. Members without a visible page are notified, unless `ring` is false."""

    message: Annotated[bytes, Meta(min_length=1, max_length=store.MAX_MESSAGE_BYTES)]
    commitment: Annotated[bytes, Meta(min_length=COMMITMENT_BYTES, max_length=COMMITMENT_BYTES)]
    after: _Seq | None = None
    ring: bool | None = None


class LogQuery(Request):
    after: _Seq | None = None
    limit: Annotated[int, Meta(ge=1, le=store.MAX_MISSED)] | None = None


class WelcomesQuery(Request):
    """A query for the Welcomes to a channel's call or, without a channel, to conversations."""

    channel_id: Id | None = None


class NewPrivateReport(Request):
    text: Annotated[str, Meta(min_length=1, max_length=MAX_REPORT_CHARACTERS)]
    member_id: Id
    sent_at_ms: _Seq
    said: Annotated[str, Meta(min_length=1, max_length=MAX_SAID_CHARACTERS)]
    key: Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]
    tag: store.Tag


class Participation(Response):
    device_id: Id


class PackagesLeft(Response):
    left: Natural


class PrivateWelcomes(Response):
    welcomes: Annotated[Sequence[store.PrivateWelcome], Meta(max_length=MAX_WELCOMES)]


class OwnConversations(Response):
    conversations: Annotated[Sequence[store.PrivateConversation], Meta(max_length=MAX_CONVERSATIONS)]


class ClaimedPackages(Response):
    key_packages: Annotated[Sequence[ClaimedPackage], Meta(max_length=MAX_RECIPIENTS)]


class SealedFile(Response):
    file_id: Id


class PrivateEndpoints(Endpoints):
    """The endpoints for private conversations. `serve` serves a stored object."""

    def __init__(
        self,
        database: Database,
        devices: PrivateDevices,
        conversations: PrivateConversations,
        files: PrivateFiles,
        report: File,
        serve: Serve,
    ) -> None:
        self._database = database
        self._devices = devices
        self._conversations = conversations
        self._files = files
        self._report = report
        self._serve = serve

    @endpoint(
        PERSON,
        "Report whether this device is registered, and how many of its key packages are left",
        http=f"GET {_PRIVATE}/device",
    )
    async def device(self, session: Session) -> PackageStock:
        return await self._devices.stock(await self._devices.current(session), time.time())

    @endpoint(
        PERSON,
        "Register this device, with a statement of its key about its MLS signature key",
        http=f"PUT {_PRIVATE}/device",
        refusals=("proof_invalid",),
    )
    async def register(self, session: Session, body: NewStatement) -> Participation:
        return Participation(await self._devices.register(session, body.statement, time.time()))

    @endpoint(
        PERSON,
        "Publish key packages, each handed out once, and a last-resort package",
        http=f"POST {_PRIVATE}/key-packages",
        refusals=("no_device", "proof_invalid", "too_many"),
        max_bytes=MAX_BODY_BYTES,
    )
    async def publish(self, session: Session, body: NewPackages) -> PackagesLeft:
        packages = body.key_packages or ()
        return PackagesLeft(await self._devices.publish(session, packages, body.last_resort, time.time()))

    @endpoint(
        PERSON,
        "List this device's pending Welcomes, about 1 MiB at a time. Repeat until the list is "
        "empty. With `channel_id` the Welcomes are those of an encrypted channel's call, "
        "otherwise those of conversations",
        http=f"GET {_PRIVATE}/welcomes",
    )
    async def welcomes(self, session: Session, query: WelcomesQuery) -> PrivateWelcomes:
        current = await self._devices.current(session)
        if current is None:
            return PrivateWelcomes(())
        welcomes = await store.welcomes(self._database, current, query.channel_id, MAX_WELCOMES)
        return PrivateWelcomes(welcomes)

    @endpoint(
        PERSON,
        "Confirm that this device has joined with a Welcome",
        http=f"DELETE {_PRIVATE}/welcomes/{{welcome_id}}",
        refusals=("no_device",),
    )
    async def accept_welcome(self, session: Session, welcome_id: Id) -> None:
        await self._conversations.accept_welcome(session, welcome_id)

    @endpoint(
        PERSON,
        "List your conversations, with the devices in each group and the missing devices",
        http=f"GET {_PRIVATE}/conversations",
    )
    async def list(self, session: Session) -> OwnConversations:
        return OwnConversations(await self._conversations.of(session.member_id))

    @endpoint(
        _SENDER,
        "Open a conversation. Two people have only one",
        http=f"POST {_PRIVATE}/conversations",
        refusals=_OPEN,
    )
    async def open(self, session: Session, body: NewConversation) -> store.PrivateConversation:
        conversation_id = await self._conversations.open(session.member_id, body.members, time.time())
        return await self._conversations.get(session.member_id, conversation_id)

    @endpoint(PERSON, "Get a conversation", http=f"GET {_CONVERSATION_PATH}", refusals=_UNKNOWN)
    async def get(self, session: Session, conversation_id: Id) -> store.PrivateConversation:
        return await self._conversations.get(session.member_id, conversation_id)

    @endpoint(
        _SENDER,
        "Add a person to a group",
        http=f"PUT {_CONVERSATION_PATH}/members/{{member_id}}",
        refusals=_OPEN,
    )
    async def add(self, session: Session, conversation_id: Id, member_id: Id) -> None:
        await self._conversations.add(session.member_id, conversation_id, member_id)

    @endpoint(
        _SENDER,
        "Remove a person from a group",
        http=f"DELETE {_CONVERSATION_PATH}/members/{{member_id}}",
        refusals=("unknown_conversation", "unknown_member"),
    )
    async def remove(self, session: Session, conversation_id: Id, member_id: Id) -> None:
        await self._conversations.remove(session.member_id, conversation_id, member_id)

    @endpoint(PERSON, "Leave a group", http=f"POST {_CONVERSATION_PATH}/leave", refusals=_UNKNOWN)
    async def leave(self, session: Session, conversation_id: Id) -> None:
        await self._conversations.remove(session.member_id, conversation_id, session.member_id)

    @endpoint(
        PERSON,
        "Report that this device has lost the group's keys. Other devices add it again",
        http=f"POST {_CONVERSATION_PATH}/lost",
        refusals=_NOT_IN_GROUP,
    )
    async def lost(self, session: Session, conversation_id: Id) -> None:
        await self._conversations.lose(session, conversation_id)

    @endpoint(
        PERSON,
        "Claim a key package of each of these devices, which must be missing from the group",
        http=f"POST {_CONVERSATION_PATH}/key-packages",
        refusals=(*_NOT_IN_GROUP, "private_refused", "unknown_member"),
    )
    async def take(self, session: Session, conversation_id: Id, body: PackagesQuery) -> ClaimedPackages:
        wanted = list(dict.fromkeys(body.devices))
        taken = await self._conversations.take_packages(session, conversation_id, wanted, time.time())
        return ClaimedPackages(taken)

    @endpoint(
        PERSON,
        "Commit and end the group's epoch. The first commit of an epoch wins",
        http=f"POST {_CONVERSATION_PATH}/commits",
        refusals=(*_NOT_IN_GROUP, "epoch_passed"),
        max_bytes=MAX_BODY_BYTES,
        cost=2,
    )
    async def commit(self, session: Session, conversation_id: Id, body: NewCommit) -> store.PrivateGroup:
        removed = frozenset(body.removed or ())
        wanted = Commit(body.commit, body.welcome, removed, body.after or 0)
        return await self._conversations.commit(session, conversation_id, wanted, time.time())

    @endpoint(
        _SENDER,
        "Send an encrypted message. Sending the same bytes again changes nothing",
        http=f"POST {_CONVERSATION_PATH}/messages",
        live="private_send",
        refusals=(*_NOT_IN_GROUP, "devices_changed", "epoch_passed", "private_refused", "unknown_member"),
    )
    async def send(
        self, session: Session, conversation_id: Id, body: NewPrivateMessage
    ) -> store.PrivateGroup:
        return await self._conversations.send(
            session,
            conversation_id,
            body.message,
            body.commitment,
            body.after or 0,
            time.time(),
            ring=body.ring is not False,
        )

    @endpoint(
        PERSON,
        "Return the log after an entry. Only for devices of the group",
        http=f"GET {_CONVERSATION_PATH}/log",
        live="private_log",
        refusals=_NOT_IN_GROUP,
    )
    async def log(self, session: Session, conversation_id: Id, query: LogQuery) -> PrivateLog:
        device_id, maximum = await self._devices.current(session), query.limit or store.MAX_MISSED
        return await self._conversations.log(
            session.member_id, device_id, conversation_id, query.after or 0, maximum
        )

    @endpoint(
        PERSON,
        "Report a message to moderators, revealing its content with proof. "
        "The report's `private` contains the revealed content",
        http=f"POST {_CONVERSATION_PATH}/reports",
        refusals=("not_proved", "too_many", "unknown_conversation"),
        status=201,
        max_bytes=MAX_REPORT_BODY_BYTES,
    )
    async def report(self, session: Session, conversation_id: Id, body: NewPrivateReport) -> ReportFiled:
        sending = Sending(conversation_id, body.member_id, body.sent_at_ms)
        proof = Proof(body.said, body.key, body.tag)
        revealed = self._conversations.reveal(session.member_id, sending, proof)
        return ReportFiled(
            await self._report(session.member_id, body.member_id, body.text, revealed, time.time())
        )

    @endpoint(
        _SENDER,
        "Store an encrypted file of up to 32 MiB for the devices of the group. Needs a `Content-Length`",
        http=f"POST {_CONVERSATION_PATH}/files",
        refusals=(
            *("unknown_conversation", "private_refused", "unknown_member", "no_device"),
            *("wrong_content_type", "upload_too_large", "upload_cut_short", "too_many_connections"),
            *("uploads_disabled", "quota_exceeded", "storage_full", "storage_unavailable"),
        ),
        status=201,
        raw_body=(FILE_TYPE, string(contentMediaType=FILE_TYPE)),
    )
    async def take_file(self, http_request: web.Request, session: Session, conversation_id: Id) -> SealedFile:
        refuse_compressed(http_request)
        sent_type = media_type(http_request.headers.get("Content-Type", FILE_TYPE))
        if sent_type != FILE_TYPE or http_request.content_length is None:
            raise ChatError("wrong_content_type", f"Send {FILE_TYPE} with a Content-Length")
        async with aclosing(received_chunks(http_request.content)) as chunks:
            return SealedFile(
                await self._files.take(session, conversation_id, http_request.content_length, chunks)
            )

    @endpoint(
        PERSON,
        "Download an encrypted file, whole or by `Range`. Only for devices of the group",
        http=f"GET {_CONVERSATION_PATH}/files/{{file_id}}",
        refusals=(
            *("unknown_conversation", "no_device", "unknown_file", "not_found", "range_not_satisfiable"),
            *("too_many_connections", "storage_unavailable", "uploads_disabled"),
        ),
        returns=str,
        media_type=FILE_TYPE,
    )
    async def file(
        self, http_request: web.Request, session: Session, conversation_id: Id, file_id: Id
    ) -> web.StreamResponse:
        return await self._serve(
            http_request, await self._files.key_of(session, conversation_id, file_id), "no-store"
        )

    @endpoint(
        PERSON,
        "Delete an encrypted file that you sent",
        http=f"DELETE {_CONVERSATION_PATH}/files/{{file_id}}",
        refusals=("unknown_conversation", "unknown_file"),
    )
    async def remove_file(self, session: Session, conversation_id: Id, file_id: Id) -> None:
        await self._files.remove(session, conversation_id, file_id)


DESCRIPTION = describe_feature(
    PrivateEndpoints,
    pushes=[
        Event(
            "private_sent",
            "A message or commit was sent. Devices of the group fetch the log",
            PrivateSent,
            to=_MEMBERS,
        ),
        Event(
            "private_changed",
            "The people or devices of a conversation changed",
            PrivateChanged,
            to=_MEMBERS,
        ),
        Event(
            "private_keys_low",
            "A device is running out of key packages",
            KeysLow,
            to="the device's member",
            kept=False,
        ),
    ],
)
