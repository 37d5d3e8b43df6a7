"""`…/discord`, `…/slack` and `…/github` beside a webhook's own address: other services' payloads,
received, made ours, posted, and answered as those services answer.

Size, look-up, rate limit, channel, limits and pictures are those of the webhook itself: everything
goes through `posting`. GitHub's signatures are not checked, for the webhook keeps no secret beside
its token. No rules. docs/webhooks-compatible.md.
"""

import time
from collections.abc import Callable

from aiohttp import web

from svc.base.database import StorageFailed
from svc.chat.access.catalogue import URL_HOLDER
from svc.chat.errors import ChatError
from svc.chat.http import answer, nothing
from svc.chat.requests import Requests, request
from svc.chat.webhooks.compatible import answers, discord, github, slack
from svc.chat.webhooks.compatible.draft import MessageDraft
from svc.chat.webhooks.compatible.forms import discord_value, value_in
from svc.chat.webhooks.compatible.reading import Node, Unreadable
from svc.chat.webhooks.posting import Posted, Posting, refusal
from svc.chat.webhooks.problems import Problem
from svc.chat.webhooks.requests import PATH, now_ms, received, url_parts

DISCORD, SLACK, GITHUB = (f"{PATH}/{service}" for service in ("discord", "slack", "github"))
EVENT_HEADER = "X-GitHub-Event"


class CompatibleRequests(Requests):
    """Described as `webhooks/requests` describes `PostRequests`."""

    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    @request(URL_HOLDER, "Post what Discord's webhooks take", http=f"POST {DISCORD}")
    async def discord(self, request: web.Request) -> web.Response:
        try:
            value, files = discord_value(request.headers.get("Content-Type", ""), await received(request))
            posted = await self._post(request, lambda: discord.message(Node.of(value), files))
        except Unreadable as fault:
            self._note(request, _unreadable(fault))
            return answer(answers.discord_unreadable(fault), 400)
        except ChatError as told:
            self._note(request, told)
            status, body = answers.discord(told)
            return _with_wait(answer(body, status), told)
        if posted is None or request.query.get("wait", "").lower() not in ("true", "1"):
            return nothing()
        return answer(discord.described(posted.message, posted.warnings))

    @request(URL_HOLDER, "Post what Slack's incoming webhooks take", http=f"POST {SLACK}")
    async def slack(self, request: web.Request) -> web.Response:
        try:
            value = value_in(await received(request), "payload")
            await self._post(request, lambda: slack.message(Node.of(value)))
        except Unreadable as fault:
            self._note(request, _unreadable(fault))
            return web.Response(text=answers.slack_unreadable(fault), status=400)
        except ChatError as told:
            self._note(request, told)
            status, word = answers.slack(told)
            return _with_wait(web.Response(text=word, status=status), told)
        return web.Response(text="ok")

    @request(URL_HOLDER, "Post an event of GitHub", http=f"POST {GITHUB}")
    async def github(self, request: web.Request) -> web.Response:
        """204 where the event is not worth a message."""
        try:
            value = value_in(await received(request), "payload")
            event = request.headers.get(EVENT_HEADER)
            posted = await self._post(request, lambda: _of_github(event, value))
        except Unreadable as fault:
            self._note(request, _unreadable(fault))
            raise _unreadable(fault) from None
        except ChatError as told:
            self._note(request, told)
            return _with_wait(answer(told.body(), told.status), told)
        return nothing() if posted is None else answer(posted.described())

    async def _post(self, request: web.Request, draft_of: Callable[[], MessageDraft | None]) -> Posted | None:
        """Raises ChatError, and what `draft_of` does."""
        webhook = self._posting.admit(*url_parts(request), now_ms())
        draft = draft_of()
        if draft is None:
            self._note(request, None)
            return None
        try:
            return await self._posting.post(webhook, draft.payload())
        except StorageFailed:
            raise ChatError("storage_unavailable") from None

    def _note(self, request: web.Request, refusal: ChatError | None) -> None:
        self._posting.refused(*url_parts(request), refusal, int(time.time() * 1000))


def _unreadable(fault: Unreadable) -> ChatError:
    return refusal([Problem(_written(fault.path), "wrong_type", words=fault.message)])


def _with_wait(response: web.Response, refusal: ChatError) -> web.Response:
    wait_ms = refusal.more.get("retry_after_ms")
    if isinstance(wait_ms, int):
        response.headers["Retry-After"] = str(-(-wait_ms // 1000))
    return response


def _of_github(event: str | None, value: object) -> MessageDraft | None:
    if event is None:
        raise ChatError("invalid_request", f"The header {EVENT_HEADER} is missing")
    return github.message(event, Node.of(value))


def _written(path: tuple[str | int, ...]) -> str:
    """As the webhook writes paths: `commits[0].author`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
