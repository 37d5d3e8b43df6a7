"""Calls in private conversations ring and connect the members, and no server can read a frame."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession
from playwright.async_api import Locator, expect

from svc.tools.secret_store import read_or_create_secrets
from tests.browser.test_accessibility import at_both_sizes, axe
from tests.browser.test_private import both, conversation, messages, private, send_message
from tests.kit.aiortc_client import AiortcClient, Voice
from tests.kit.browser_users import People, Person
from tests.kit.depacketise import vp8
from tests.kit.firefox import Firefox
from tests.kit.incoming_track import Incoming
from tests.kit.page_statistics import Watcher
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

__all__ = ["axe"]

TAG_BYTES = 16
# Creates groups of three, and joins each group with a key package. In Firefox, every second join used to
# fail.
JOINS = """async () => {
  const at = (path) => new URL(path, [...document.scripts].find(({ src }) => src.includes("/web/")).src);
  const { begin, commit, join, makeKeys, makePackage } = await import(at("state/private/mls.js"));
  const { defaultClientConfig: config } = await import(at("vendor/mls.js"));
  const made = async () => makePackage({ ...(await makeKeys()), statement: "somebody" }, Date.now());
  for (let time = 0; time < 5; time += 1) {
    let state = await begin("group", await made(), config);
    for (const own of [await made(), await made()]) {
      const next = await commit(state, [own.message], []);
      await join(next.welcome, async () => own, config);
      ({ state } = next);
    }
  }
}"""
ENOUGH = 40  # frames to wait for from each track
# Three encodings share a counter. This is the number of their frames in ten minutes at 30 frames per second.
# A test call takes only a minute.
MAX_COUNTER = 10 * 60 * 30 * 3
LEAVES = {0, 1, 2}
SOURCES = {"mic": 0, "camera": 1}


def ringing(person: Person) -> Locator:
    return person.page.get_by_role("alertdialog")


async def join_conversation(people: People) -> tuple[Person, Person]:
    """Have two people exchange messages and then open their conversation."""
    ada, grace = await both(people)
    for person in (ada, grace):
        await person.resize({"width": 1000, "height": 720})
    await private(ada, "Grace")
    await send_message(ada, "Shall we talk?")
    await conversation(grace, "Ada").click()
    await expect(messages(grace)).to_have_text(["Shall we talk?"])
    return ada, grace


async def in_a_call(people: People) -> tuple[Person, Person]:
    ada, grace = await join_conversation(people)
    await ada.press("Call")
    await expect(ringing(grace)).to_contain_text("Ada is calling")
    await expect(ada.page.locator("#call-state")).to_have_text("Ringing…")
    await expect(ada.page.locator(".alone")).to_have_text("Waiting for Grace to answer…")
    await grace.press("Answer")
    for person in (ada, grace):
        await person.is_connected()
        await person.press("Start camera")
    return ada, grace


async def receives(person: Watcher, other: Watcher) -> None:
    """Wait until this person has received further video frames and audio from the other person."""
    await asyncio.gather(person.sees(other, frames=16, within_s=20), person.hears(other, within_s=20))


@asynccontextmanager
async def recorder(product: SvcUp, data_dir: Path, room_id: str) -> AsyncIterator[AiortcClient]:
    """Yield a client that joins with the media service's own secret.

    It receives everything that the media service forwards.
    """
    secrets = read_or_create_secrets(data_dir)
    origin = product.url.split("/#")[0]
    async with ClientSession() as http:
        client = AiortcClient("recorder", Voice(1, 1), await http.ws_connect(f"{origin}/sfu/client"), {})
        join = {
            "room_id": room_id,
            "server_id": secrets.server_id,
            "server_password": secrets.server_password,
        }
        await client.send("client_join", join | {"user_id": "recorder", "user_token": ""})
        try:
            yield client
        finally:
            await client.leave()


def kid_and_counter(frame: bytes) -> tuple[int, int]:
    """Parse the SFrame header at the start of a frame (RFC 9605 section 4.3)."""
    at, values = 1, []
    for nibble in (frame[0] >> 4, frame[0] & 15):
        size = (nibble & 7) + 1 if nibble & 8 else 0
        values.append(int.from_bytes(frame[at : at + size]) if size else nibble & 7)
        at += size
    assert len(frame) >= at + TAG_BYTES
    return values[0], values[1]


def counted(line: Incoming) -> set[tuple[int, int]]:
    """Return the key ids and counters in the SFrame headers of the track."""
    if line.source == "mic":
        frames = list(line.payloads)
    else:
        # Take the first packet of each video frame. The encrypted data follows 3 unencrypted bytes, or 10 in
        # a keyframe.
        starts = [vp8([payload]) for payload in line.payloads if payload[0] & 0x10 and not payload[0] & 7]
        frames = [data[3 if data[0] & 1 else 10 :] for data in starts if len(data) > 50]
    return {kid_and_counter(frame) for frame in frames}


def assert_sealed(line: Incoming) -> None:
    """Check that all frames have SFrame headers with small counters and use the keys of a single MLS leaf."""
    read = counted(line)
    ((leaf, source),) = {((kid >> 8) & 1023, (kid >> 18) & 3) for kid, _ in read}
    assert leaf in LEAVES
    assert source == SOURCES[line.source]
    assert max(counter for _, counter in read) < MAX_COUNTER


async def test_a_private_call_rings_and_connects_two_people_and_no_server_can_read_it(
    people: People, product: SvcUp, tmp_path: Path
) -> None:
    ada, grace = await in_a_call(people)
    for one, other in ((ada, grace), (grace, ada)):
        await receives(one, other)
        await expect(one.page.locator("#sealed")).to_be_visible()
    room_id = (await ada.page.evaluate("localStorage['svc.place']")).removeprefix("private ")
    async with recorder(product, tmp_path / "data", room_id) as client:

        async def recorded() -> bool:
            lines = list(client.incoming.values())
            return len(lines) == 4 and all(len(counted(line)) > ENOUGH for line in lines)

        await wait_until("the recorder has received media from both", recorded, within_s=20)
        for line in client.incoming.values():
            assert_sealed(line)
        # Meanwhile, the two members can still see and hear each other.
        await receives(ada, grace)


@pytest.mark.nightly("Firefox and Chromium see and hear each other in an encrypted channel daily")
async def test_firefox_and_chromium_see_and_hear_each_other_in_a_private_call(
    people: People, fox: Firefox, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await fox.arrive("Grace", product.url)
    await grace.does("""
      const name = await one("input[name=name]");
      fill(name, "Grace");
      name.form.requestSubmit();
      const field = await one("#draft:enabled");
      fill(field, "I am Grace");
      enter(field);
      await message("I am Grace");""")
    await private(ada, "Grace")
    await send_message(ada, "Shall we talk?")
    await grace.does('await there(() => document.querySelector("#private-talks button"));')
    await ada.press("Call")
    await grace.does("""
      await press("Answer", "[role=alertdialog]");
      await there(() => document.querySelector("#call-state")?.textContent === "Connected");
      await press("Start camera");
      await one("#sealed");""")
    await ada.is_connected()
    await ada.press("Start camera")
    await asyncio.gather(receives(ada, grace), receives(grace, ada))


async def test_a_call_can_be_declined_and_needs_a_browser_that_can_encrypt(people: People, axe: str) -> None:
    ada, grace = await join_conversation(people)
    await ada.press("Call")
    await expect(ringing(grace)).to_contain_text("Ada is calling")
    await at_both_sizes(grace, axe, "an incoming call")
    await grace.press("Decline")
    await expect(ringing(grace)).to_have_count(0)
    await expect(ada.page.get_by_text("Grace declined the call.")).to_be_visible()
    await expect(ada.page.locator("#call-state")).to_have_count(0)

    # A member whose browser cannot encrypt sees a notice and cannot join.
    await grace.page.evaluate("delete globalThis.RTCRtpScriptTransform")
    await ada.press("Call")
    await expect(ringing(grace)).to_contain_text("This browser can’t join encrypted calls")
    await expect(ringing(grace).get_by_role("button")).to_have_text(["Decline"])
    await grace.page.locator("#private").get_by_role("button", name="Join call").click()
    await expect(grace.page.locator(".notices")).to_contain_text("This browser can’t join encrypted calls")
    await expect(grace.page.locator("#call-state")).to_have_count(0)
    # The ringing stops when the caller leaves.
    await ada.press("Leave")
    await expect(ringing(grace)).to_have_count(0)
