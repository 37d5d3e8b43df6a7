"""A browser reports what arrives, and a client that asks learns its available bandwidth."""

import json

from playwright.async_api import WebSocketRoute

from tests.kit.people import People
from tests.kit.waiting import wait_until


async def test_a_page_that_asks_hears_what_its_line_carries(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    estimates: list[int] = []

    def asking(socket: WebSocketRoute) -> None:
        """Join as a client that asks for its bandwidth, which the page does not do yet."""
        server = socket.connect_to_server()

        def from_page(message: str | bytes) -> None:
            envelope = json.loads(message)
            if envelope["event"] == "client_join":
                envelope["data"] = json.dumps({**json.loads(envelope["data"]), "bandwidth": True})
            server.send(json.dumps(envelope))

        def from_server(message: str | bytes) -> None:
            envelope = json.loads(message)
            if envelope["event"] == "bandwidth":
                estimates.append(json.loads(envelope["data"])["estimate_bps"])
            else:
                socket.send(message)

        socket.on_message(from_page)
        server.on_message(from_server)

    await ada.page.route_web_socket("**/sfu/client**", asking)
    await grace.join()
    await ada.join()
    await ada.sees(grace)

    async def much() -> bool:
        return bool(estimates) and estimates[-1] >= 2_000_000

    # Far more than one small camera: probes have found it, and the picture continues meanwhile.
    await wait_until("2 Mbit/s are found", much, within_s=15)
    await ada.sees(grace)
