"""Performs test users' actions in text channels, and checks the results."""

import json
from collections.abc import Sequence

from playwright.async_api import Locator, WebSocketRoute, expect

from tests.kit.browser_users import People, Person
from tests.kit.wait import wait_until

# Returns whether no message is pending, not even one that is not rendered yet. If the browser can store data,
# the page keeps a message in storage until the server has it.
NOTHING_WAITS = "() => { try { return !sessionStorage.getItem('svc.outbox'); } catch { return true; } }"
# Scrolls a little, and makes the list grow before the page notices, which takes one frame. Returns the
# distance to the end in px.
GROWS = """async (message) => {
  const box = message.closest(".messages-box");
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  message.style.paddingBlockStart = "2000px";
  await frame();
  await frame();
  box.scrollTop -= 5;
  message.style.paddingBlockStart = "4000px";
  await frame();
  await frame();
  return box.scrollHeight - box.scrollTop - box.clientHeight;
}"""


async def join_and_open(person: Person, channel: str = "general") -> None:
    """Join the community without entering a call and open a channel."""
    await person.come_in()
    await open_channel(person, channel)


async def until_tooltips_are_shown(person: Person) -> None:
    """Wait until the page has loaded its tooltips. Leave the pointer on an icon button."""
    members = person.page.get_by_role("button", name="Members")

    async def shown() -> bool:
        await person.page.mouse.move(0, 400)
        await members.hover()
        return await person.page.locator(".tooltip").is_visible()

    await wait_until("an icon button shows its name", shown, within_s=15)


async def both(people: People) -> tuple[Person, Person]:
    """Have Ada and Grace join with the first channel open."""
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    return ada, grace


async def in_two_channels(people: People) -> tuple[Person, Person]:
    """Have Ada join with #random open, and Grace with #general open. Ada's browser allows notifications."""
    ada = await in_random(people)
    return ada, await people.arrive("Grace", reads="general")


async def in_random(people: People) -> Person:
    """Have Ada join with #random open. Her browser allows notifications."""
    ada = await people.arrive("Ada", reads="random")
    await ada.page.context.grant_permissions(["notifications"])
    return ada


async def open_channel(person: Person, name: str) -> None:
    await person.show_channels()
    await entry(person, name).click()
    await expect(person.page.locator("#text-name")).to_have_text(name)
    await expect(box(person)).to_be_enabled()


def entry(person: Person, name: str) -> Locator:
    """Return the channel's entry in the list of channels."""
    channel = person.page.locator(".channel-name").filter(has_text=name)
    return person.page.locator("#channels button").filter(has=channel)


async def is_listed_as(person: Person, channel: str, name: str) -> None:
    """Check the channel's accessible name, which includes the unread count."""
    await person.show_channels()
    await expect(entry(person, channel)).to_have_accessible_name(name)
    await person.hide_channels()


def box(person: Person) -> Locator:
    """Return the message field."""
    return person.page.locator("#draft")


async def write(person: Person, text: str) -> None:
    """Send a message and wait until the server has it."""
    await box(person).fill(text)
    # On a phone, Enter starts a new line.
    await box(person).press("Control+Enter")
    await expect(box(person)).to_have_value("")
    await person.page.wait_for_function(NOTHING_WAITS)
    await expect(person.page.locator(".pending")).to_have_count(0)


async def stays_at_the_end(last: Locator) -> None:
    """Check that a reader at the last message still sees that message after the content below it
    has grown.
    """
    assert await last.evaluate(GROWS) < 1


def message(person: Person, text: str) -> Locator:
    return person.page.locator(".message").filter(has_text=text)


async def shows(person: Person, texts: Sequence[str]) -> None:
    """Check that the channel shows exactly these messages, in this order."""
    await expect(person.page.locator(".message .body > .text")).to_have_text(list(texts))


async def do(person: Person, text: str, action: str) -> None:
    """Press one of the message's buttons."""
    await press_at(message(person, text), action)


async def press_at(message: Locator, action: str) -> None:
    """Press one of the message's buttons by keyboard, because the message may move away from the pointer."""
    button = message.get_by_role("button", name=action, exact=True)
    await message.hover()
    await button.focus()
    await button.click()


class LiveConnection:
    """One page's connection to the live socket.

    The connection can be cut, and its requests can be delayed or replaced. `first_events` has the first event
    of each connection, and `nonces` has the nonces of the messages that the page has sent.
    """

    def __init__(self) -> None:
        self.first_events: list[str] = []
        self.nonces: list[str] = []
        self._open: list[WebSocketRoute] = []
        self._is_cut = False
        self._cut_after: str | None = None
        self._cut_before: str | None = None
        self._held_event: str | None = None
        self._held: list[tuple[WebSocketRoute, str | bytes]] = []
        self._failing_event: str | None = None
        self._late_event: str | None = None
        self._late: list[tuple[WebSocketRoute, str | bytes]] = []

    async def intercept(self, person: Person) -> None:
        """Intercept the page's live socket from the page's next load on."""
        await person.page.route_web_socket("**/live", self._connect)

    async def cut(self) -> None:
        self._is_cut = True
        for socket in self._open:
            await socket.close(code=1011)
        self._open.clear()

    def cut_after(self, event: str) -> None:
        """Cut the connection when the page sends this request. The server receives it, but the response is
        lost.
        """
        self._cut_after = event

    def cut_before(self, event: str) -> None:
        """Cut the connection when the page sends this request, before the server receives it."""
        self._cut_before = event

    def hold(self, event: str) -> None:
        """Hold back the page's requests with this event until they are released."""
        self._held_event = event

    def delay(self, event: str) -> None:
        """Hold back this event and all later events from the server until they are released."""
        self._late_event = event

    @property
    def is_late(self) -> bool:
        """Return whether the server has sent the event that is being held back."""
        return bool(self._late)

    def release(self) -> None:
        self._held_event = self._late_event = None
        for page, text in self._late:
            page.send(text)
        self._late.clear()
        for server, text in self._held:
            server.send(text)
        self._held.clear()

    def fail_next(self, event: str) -> None:
        """Turn the next request with this event into a request for a missing object, which the server
        rejects.
        """
        self._failing_event = event

    def restore(self) -> None:
        self._is_cut, self._cut_after, self._cut_before, self._failing_event = False, None, None, None

    async def _connect(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            await socket.close(code=1011)
            return
        server = socket.connect_to_server()
        self._open.append(socket)
        lines: list[str] = []

        async def forward(text: str | bytes) -> None:
            frame = json.loads(text)
            event = frame["event"]
            if event == "message_send":
                self.nonces.append(frame["data"]["nonce"])
            if not lines:
                lines.append(event)
                self.first_events += lines
            if event in (self._cut_after, self._cut_before):
                await self.cut()
            if event == self._held_event:
                self._held.append((server, text))
            elif event == self._failing_event:
                wrong = {"channel_id": "nowhere"} if "channel_id" in frame["data"] else {"before": "nothing"}
                server.send(json.dumps({**frame, "data": {**frame["data"], **wrong}}))
            elif event != self._cut_before:
                server.send(text)

        async def answer(text: str | bytes) -> None:
            if self._is_cut:
                return
            if self._late or (self._late_event and json.loads(text).get("event") == self._late_event):
                self._late.append((socket, text))
            else:
                socket.send(text)

        socket.on_message(forward)
        server.on_message(answer)
