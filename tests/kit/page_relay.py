"""Puts a page behind a relay by rewriting the addresses that it and the media service exchange.

Reads the signalling socket on its way and changes descriptions and candidates only.
"""

from collections.abc import Callable

from playwright.async_api import Page, WebSocketRoute

from svc.base.envelope import parse, payload, serialise
from tests.kit.relay import Relay

SIGNALLING = "**/sfu/client"


async def put_behind(line: Relay, page: Page) -> None:
    """Put the page behind the relay from now on. A call in progress is not affected."""

    def opened(client: WebSocketRoute) -> None:
        service = client.connect_to_server()

        def to_client(frame: str | bytes) -> None:
            client.send(_rewritten(frame, "offer", line.offered))

        def to_service(frame: str | bytes) -> None:
            if parse(str(frame)).event != "candidate":
                service.send(_rewritten(frame, "answer", line.answered))

        service.on_message(to_client)
        client.on_message(to_service)

    await page.route_web_socket(SIGNALLING, opened)


def _rewritten(frame: str | bytes, event: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite the session description of this event's frames."""
    envelope = parse(str(frame))
    if envelope.event != event:
        return str(frame)
    description = payload(envelope)
    return serialise(event, {**description, "sdp": rewrite(str(description["sdp"]))})
