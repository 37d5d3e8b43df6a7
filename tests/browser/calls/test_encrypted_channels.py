"""Participants in an encrypted voice channel see and hear each other, but no server can read the frames."""

import asyncio
import json
from pathlib import Path
from typing import Any

from playwright.async_api import Route, WebSocketRoute, expect

from tests.browser.calls.test_private_calls import JOINS, assert_sealed, counted, receives, recorder
from tests.browser.test_accessibility import at_both_sizes, axe
from tests.browser.test_voice_moderation import act
from tests.kit.browser_users import JOIN_DEADLINE_S, People, Person
from tests.kit.community import ask, own_id
from tests.kit.firefox import Firefox
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

__all__ = ["axe"]

ENOUGH = 20  # frames to wait for from each track


async def encrypted(owner: Person) -> str:
    """Encrypt the voice channel. Return its id."""
    [channel] = [
        channel
        for channel in (await ask(owner, "GET", "/api/channels"))["channels"]
        if channel["type"] == "voice"
    ]
    await ask(owner, "PATCH", f"/api/channels/{channel['id']}", {"encrypted": True})
    return str(channel["id"])


async def number(person: Person, devices: int) -> str:
    """Wait until this many devices have the keys. Return the verification number in the open dialog."""
    await expect(person.page.locator("#key-holders")).to_contain_text(f"{devices} devices of")
    return await person.page.locator(".private-number").text_content() or ""


async def agree_on_number(*everybody: Person, devices: int) -> None:
    """Wait until all pages show the same number. Pages learn of a new epoch at different times."""

    async def have_same_number() -> bool:
        return len({await number(person, devices) for person in everybody}) == 1

    for person in everybody:
        await person.page.locator("#encrypted").click()
    await wait_until("all pages show the same number", have_same_number, within_s=30)
    for person in everybody:
        await person.page.keyboard.press("Escape")


async def remove_device_once(person: Person, other_id: str) -> asyncio.Event:
    """Make the page remove the other member's device from the group once, although the server did not request
    it.
    """
    done, where = asyncio.Event(), "**/api/private/conversations/*"

    async def report_as_gone(route: Route) -> None:
        response = await route.fetch()
        body = await response.json()
        for device in body.get("devices", []):  # Error responses have no list.
            device["gone"] = device["gone"] or (device["member_id"] == other_id and not done.is_set())
        await route.fulfill(response=response, json=body)

    async def silently(route: Route) -> None:
        body: dict[str, Any] = route.request.post_data_json or {}
        hidden = body["removed"] and not done.is_set()
        response = await route.fetch(post_data={**body, "removed": []} if hidden else body)
        if hidden and response.ok:
            done.set()
        await route.fulfill(response=response)

    await person.page.route(where, report_as_gone)
    await person.page.route(f"{where}/commits", silently)
    return done


async def test_participants_in_an_encrypted_channel_see_and_hear_each_other_without_readable_frames(
    people: People, fox: Firefox, product: SvcUp, tmp_path: Path
) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    room_id = await encrypted(ada)
    await ada.enter_call(camera=True)
    await grace.come_in()
    await grace.enter_call()
    await asyncio.gather(ada.hears(grace), receives(grace, ada))
    await agree_on_number(ada, grace, devices=2)

    # Members who join later also get the keys, even in other browsers. A member who has been removed is added
    # again.
    shut_out = await remove_device_once(ada, await own_id(grace))
    edsger = await fox.arrive("Edsger", product.url)
    await edsger.join()
    await edsger.does(f"await ({JOINS})();")
    async with asyncio.timeout(JOIN_DEADLINE_S):
        await shut_out.wait()
    # Closing the page may abort pending requests. This is not an error.
    await ada.page.unroute_all(behavior="ignoreErrors")
    await asyncio.gather(receives(edsger, ada), receives(ada, edsger), ada.hears(grace), receives(grace, ada))
    await agree_on_number(ada, grace, devices=3)
    async with recorder(product, tmp_path / "data", room_id) as client:

        def epochs_of(person_id: str) -> set[int]:
            """Return the epochs of the keys of this person's audio. The set is empty while their page
            reloads.
            """
            lines = [
                track
                for track in client.incoming.values()
                if (track.user_id, track.source) == (person_id, "mic")
            ]
            return {kid & 255 for line in lines for kid, _ in counted(line)}

        async def recorded() -> bool:
            lines = list(client.incoming.values())
            return len(lines) == 5 and all(len(counted(line)) > ENOUGH for line in lines)

        await wait_until("the recorder has received media from everyone", recorded, within_s=30)
        for line in client.incoming.values():
            assert_sealed(line)
        ada_id, grace_id = await own_id(ada), await own_id(grace)
        # A member who leaves had the keys of these epochs but gets no keys of later ones.
        had = max(epochs_of(grace_id))
        await grace.press("Leave")

        async def rotated() -> bool:
            return max(epochs_of(ada_id), default=0) > had

        await wait_until("Ada encrypts with a key that Grace does not have", rotated, within_s=20)
        await asyncio.gather(receives(edsger, ada), receives(ada, edsger))

    # A member whose browser cannot encrypt sees a notice and cannot join.
    await grace.page.evaluate("delete globalThis.RTCRtpScriptTransform")
    await grace.page.locator("#voice-channels .channel").click()
    await expect(grace.page.locator("#call")).to_contain_text("This browser can’t join encrypted calls")
    await expect(grace.page.locator("#call-state")).to_have_count(0)


async def test_a_reload_restores_the_keys_and_nobody_is_moved_out_of_an_encrypted_channel(
    people: People, axe: str
) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await encrypted(ada)
    await ask(ada, "POST", "/api/channels", {"name": "Lounge", "type": "voice"})
    await ada.enter_call(camera=True)
    await grace.come_in()
    await grace.enter_call()
    await asyncio.gather(ada.hears(grace), receives(grace, ada))

    await grace.page.reload()
    await grace.is_connected()
    await asyncio.gather(ada.hears(grace), grace.sees(ada))
    await agree_on_number(ada, grace, devices=2)

    await ada.page.locator("#encrypted").click()
    await expect(ada.page.locator("#key-holders")).to_contain_text("2 devices of")
    await at_both_sizes(ada, axe, "the keys of a call")
    await ada.page.keyboard.press("Escape")

    await act(ada, "Grace", "Move to Lounge")
    await expect(grace.page.locator("#call")).to_contain_text("You were removed from the call.")
    await expect(grace.page.locator("#call-state")).to_have_count(0)


async def test_the_web_client_warns_if_a_device_hidden_by_the_server_has_the_keys(people: People) -> None:
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.page.route_web_socket("**/live", connect)
    await ada.page.reload()
    await ada.come_in()
    room_id = await encrypted(ada)
    await ada.enter_call()
    await grace.come_in()
    await grace.enter_call()
    await ada.hears(grace)
    await expect(ada.page.locator("#uninvited")).to_have_count(0)
    # The server claims that Grace has left, although her device still has the keys.
    hidden = {"channel_id": room_id, "member_id": await own_id(grace)}
    warning = ada.page.locator("#uninvited")

    async def warned() -> bool:
        for socket in sockets:
            socket.send(json.dumps({"event": "voice_left", "data": hidden}))
        return await warning.count() == 1

    await wait_until("Ada is warned", warned, within_s=60)
    await expect(warning).to_contain_text(
        "A device of Grace has the keys to this call but isn’t shown in it."
    )
