"""Routes a page's media through a relay, by rewriting the addresses that the page and the media service
exchange.

It intercepts the signalling socket, and changes only session descriptions and candidates.
"""

import asyncio
import json
from collections.abc import Callable

from playwright.async_api import Page, WebSocketRoute

from svc.base.signalling_codec import parse, payload, serialise
from tests.kit.firefox import FirefoxPerson
from tests.kit.relay import Relay
from tests.kit.wait import wait_until

SIGNALLING = "**/sfu/client"
# The same interception, for a page that Playwright does not control.
SCRIPT = """() => {
  const [host, port] = %s;
  const Socket = window.WebSocket;
  const rewritten = (text, event, rewrite) => {
    const frame = JSON.parse(text);
    if (frame.event !== event) return text;
    const data = JSON.parse(frame.data);
    return JSON.stringify({ event, data: JSON.stringify({ ...data, sdp: rewrite(data.sdp) }) });
  };
  const offered = (sdp) => sdp
    .replace(/^a=candidate:\\S+ 1 tcp .*\\r\\n/gmu, "")
    .replace(/^(a=candidate:\\S+ 1 udp \\d+) (\\S+) (\\d+)/gmu, (_, head, ...address) => {
      window.mediaAddress = address.slice(0, 2);
      return `${head} ${host} ${port}`;
    });
  const answered = (sdp) => sdp.replace(/^a=candidate:.*\\r\\n/gmu, "");
  window.WebSocket = class extends Socket {
    addEventListener(name, listener, ...more) {
      const behind = name !== "message" || !this.url.endsWith("/sfu/client");
      super.addEventListener(name, behind ? listener : ({ data }) => listener({
        data: rewritten(data, "offer", offered) }), ...more);
    }
    send(text) {
      if (!this.url.endsWith("/sfu/client")) super.send(text);
      else if (JSON.parse(text).event !== "candidate") super.send(rewritten(text, "answer", answered));
    }
  };
}"""


def firefox_behind(link: Relay) -> str:
    """Return the script that puts a page in Firefox behind the relay.

    It must run before the page's own scripts.
    """
    return SCRIPT % json.dumps(link.to_client.address)


async def join_behind(link: Relay, person: FirefoxPerson) -> None:
    """Join the call with the microphone, through the relay of `firefox_behind`."""

    async def known() -> bool:
        if address := await person.evaluate("() => window.mediaAddress ?? null"):
            link.leads_to((address[0], int(address[1])))
        return bool(address)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(person.join(camera=False))
        await wait_until("the service has offered its address", known, within_s=15)


async def put_behind(link: Relay, page: Page) -> None:
    """Put the page's later calls behind the relay. A call in progress is not affected."""

    def opened(client: WebSocketRoute) -> None:
        service = client.connect_to_server()

        def to_client(frame: str | bytes) -> None:
            client.send(_rewritten(frame, "offer", link.offered))

        def to_service(frame: str | bytes) -> None:
            if parse(str(frame)).event != "candidate":
                service.send(_rewritten(frame, "answer", link.answered))

        service.on_message(to_client)
        client.on_message(to_service)

    await page.route_web_socket(SIGNALLING, opened)


def _rewritten(frame: str | bytes, event: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite the session descriptions in this event's frames."""
    envelope = parse(str(frame))
    if envelope.event != event:
        return str(frame)
    description = payload(envelope)
    return serialise(event, {**description, "sdp": rewrite(str(description["sdp"]))})
