"""Receives, converts and posts other services' payloads, at `…/discord`, `…/slack` and `…/github` below a
webhook's URL.

Responses have the service's format. All posts go through `publisher`, so the usual size limit, look-up, rate
limit, channel check and image handling apply. GitHub's signatures are not checked, because the webhook has no
secret besides its token. This module contains no rules. See docs/webhooks-compatible.md.
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from aiohttp import web

from svc.base.database import StorageFailed
from svc.chat.access.endpoint_permissions import URL_HOLDER
from svc.chat.endpoints import Endpoints, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import answer, no_content, with_wait
from svc.chat.webhooks.compatible import discord, github, slack
from svc.chat.webhooks.compatible.draft import MessageDraft
from svc.chat.webhooks.compatible.payload_reader import (
    DiscordForm,
    InvalidValue,
    Node,
    discord_form,
    payload_in,
)
from svc.chat.webhooks.endpoints import PATH, now_ms, read_body, url_parts
from svc.chat.webhooks.json_reader import Problem, value_of
from svc.chat.webhooks.publisher import PublishedPost, Publisher, refusal

DISCORD, SLACK, GITHUB = (f"{PATH}/{service}" for service in ("discord", "slack", "github"))
EVENT_HEADER = "X-GitHub-Event"

T = TypeVar("T")


class CompatibleEndpoints(Endpoints):
    """The endpoints for posting in other formats, described in the document for `PostEndpoints`."""

    def __init__(self, posting: Publisher) -> None:
        self._posting = posting

    @endpoint(URL_HOLDER, "Post a message in the format of Discord's webhooks", http=f"POST {DISCORD}")
    async def discord(self, http_request: web.Request) -> web.Response:
        kind = http_request.headers.get("Content-Type", "")
        try:
            posted = await self._publish(
                http_request,
                lambda data: discord_form(kind, data),
                DiscordForm.value,
                lambda form, value: discord.message(Node.of(value), form.files),
            )
        except InvalidValue as fault:
            return answer(_discord_unreadable(fault), 400)
        except ChatError as refusal_error:
            status, body = _discord_refusal(refusal_error)
            return with_wait(answer(body, status), refusal_error)
        if posted is None or http_request.query.get("wait", "").lower() not in ("true", "1"):
            return no_content()
        return answer(discord.response(posted.message, posted.warnings))

    @endpoint(URL_HOLDER, "Post a message in the format of Slack's incoming webhooks", http=f"POST {SLACK}")
    async def slack(self, http_request: web.Request) -> web.Response:
        try:
            await self._publish(
                http_request, _payload, value_of, lambda _, value: slack.message(Node.of(value))
            )
        except InvalidValue as fault:
            word = "invalid_blocks" if "blocks" in fault.path else "invalid_payload"
            return web.Response(text=word, status=400)
        except ChatError as refusal_error:
            word = _SLACK_FAULT if refusal_error.status >= 500 else refusal_error.code
            status, word = _SLACK.get(refusal_error.code, (refusal_error.status, word))
            return with_wait(web.Response(text=word, status=status), refusal_error)
        return web.Response(text="ok")

    @endpoint(URL_HOLDER, "Post a GitHub event", http=f"POST {GITHUB}")
    async def github(self, http_request: web.Request) -> web.Response:
        """Post an event. Respond with 204 if the event is not worth a message."""
        event = http_request.headers.get(EVENT_HEADER)
        try:
            posted = await self._publish(
                http_request, _payload, value_of, lambda _, value: _of_github(event, value)
            )
        except InvalidValue as fault:
            raise _unreadable(fault) from None
        except ChatError as refusal_error:
            return with_wait(answer(refusal_error.body(), refusal_error.status), refusal_error)
        return no_content() if posted is None else answer(posted.receipt())

    async def _publish(
        self,
        request: web.Request,
        check: Callable[[bytes], T],
        read: Callable[[T], object],
        draft_of: Callable[[T, object], MessageDraft | None],
    ) -> PublishedPost | None:
        """Post the message in a request. Return None if there is nothing to post.

        Raises ChatError or InvalidValue, after recording the error. `check` checks that the body is JSON,
        `read` builds values from it, and `draft_of` converts these to a message. Each function blocks the
        event loop for about 10 ms at most.
        """
        where = url_parts(request)
        try:
            data = await read_body(request)
            webhook, checked = await self._posting.admit(*where, now_ms(), len(data), lambda: check(data))
            value = await self._posting.run_queued(lambda: read(checked))
            draft = await self._posting.run_queued(lambda: draft_of(checked, value))
            if draft is None:
                self._note(request, None)
                return None
            try:
                attached = await self._posting.attach(webhook, draft.files)
                draft = discord.without(draft, [draft.files[index].name for index in attached.left_out])
                return await self._posting.post(webhook, draft.payload(), attached)
            except StorageFailed:
                raise ChatError("storage_unavailable") from None
        except InvalidValue as fault:
            self._note(request, _unreadable(fault))
            raise
        except ChatError as refusal_error:
            self._note(request, refusal_error)
            raise

    def _note(self, request: web.Request, refusal: ChatError | None) -> None:
        self._posting.refused(*url_parts(request), refusal, int(time.time() * 1000))


def _payload(body: bytes) -> bytes:
    return payload_in(body, "payload")


def _unreadable(fault: InvalidValue) -> ChatError:
    return refusal([Problem(_format_path(fault.path), "wrong_type", words=fault.message)])


def _of_github(event: str | None, value: object) -> MessageDraft | None:
    if event is None:
        raise ChatError("invalid_request", f"The header {EVENT_HEADER} is missing")
    return github.message(event, Node.of(value))


def _format_path(path: tuple[str | int, ...]) -> str:
    """Format a path as for our own webhooks, for example `commits[0].author`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


# Maps our error codes to the status, code and message that Discord or Slack uses, so that their tools
# understand our errors. An error without a counterpart keeps our status and message. See "Opcodes and Status
# Codes" and "Rate Limits" in Discord's documentation, and "Handling errors" of incoming webhooks in Slack's.
_DISCORD: Mapping[str, tuple[int, int, str]] = {
    "body_too_large": (413, 40005, "Request entity too large"),
    "empty_message": (400, 50006, "Cannot send an empty message"),
    "invalid_json": (400, 50109, "The request body contains invalid JSON."),
    "no_channel": (404, 10003, "Unknown Channel"),
    "not_found": (404, 10015, "Unknown Webhook"),
    "profanity_refused": (400, 200000, "Message was blocked by automatic moderation"),
    "rate_limited": (429, 0, "You are being rate limited."),
}
_UNREADABLE = (50035, "Invalid Form Body")

_SLACK: Mapping[str, tuple[int, str]] = {
    "body_too_large": (413, "invalid_payload"),
    "empty_message": (400, "no_text"),
    "invalid_json": (400, "invalid_payload"),
    "no_channel": (404, "channel_not_found"),
    "not_found": (404, "no_service"),
    "profanity_refused": (403, "action_prohibited"),
    "rate_limited": (429, "rate_limited"),
    "unsupported_encoding": (415, "invalid_payload"),
}
# The error code that Slack uses for its own errors.
_SLACK_FAULT = "rollup_error"


def _discord_refusal(refusal: ChatError) -> tuple[int, dict[str, object]]:
    status, code, message = _DISCORD.get(refusal.code, (refusal.status, 0, refusal.message))
    body: dict[str, object] = {"code": code, "message": message}
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        body |= {"retry_after": wait_ms / 1000, "global": False}
    return status, body


def _discord_unreadable(fault: InvalidValue) -> dict[str, object]:
    """Return an error body in Discord's format. It nests the error along the path to the invalid value."""
    errors: dict[str, object] = {"_errors": [{"code": "BASE_TYPE_BAD", "message": fault.message}]}
    for step in reversed(fault.path):
        errors = {str(step): errors}
    code, message = _UNREADABLE
    return {"code": code, "message": message, "errors": errors}
