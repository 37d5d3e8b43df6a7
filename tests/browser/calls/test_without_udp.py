"""Without UDP, calls use TCP. If only HTTPS gets through, they use a TURN server."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.kit.browser_users import Person, bare_chromium
from tests.kit.certificates import Authority
from tests.kit.coturn import NAME, SECRET, TURN, coturn
from tests.kit.external_programs import required
from tests.kit.firefox import firefox
from tests.kit.home_networks import (
    ALL_BUT_HTTPS,
    UDP,
    firefox_in,
    home_networks,
    people_in,
    server_in,
    why_no_names,
    why_not,
)
from tests.kit.page_statistics import Watcher
from tests.kit.wait import wait_until

WITHIN_S = 30.0
PATHS = """
async () => {
  const all = [...((await svc.call?.pc?.getStats()) ?? new Map()).values()];
  const { selectedCandidatePairId: id } = all.find(({ type }) => type === "transport") ?? {};
  // Firefox has no transport entry. It marks the selected pair instead.
  const pairs = all.filter(({ type }) => type === "candidate-pair");
  const pair = pairs.find((entry) => (id ? entry.id === id : entry.selected));
  const { candidateType, protocol } = all.find((entry) => entry.id === pair?.localCandidateId) ?? {};
  return candidateType === "relay" ? "relay" : protocol ?? "";
}
"""

# Opens the quality panel in Firefox, which shows the transport path.
SHOWN_TCP = """
await press("More call options");
await press("Call quality");
await there(() => [...document.querySelectorAll(".numbers dd")].find(called("TCP")));
"""
RELAY = """
async () => {
  const all = [...(await svc.call.pc.getStats()).values()];
  const relayed = all.find((each) => each.type === "local-candidate" && each.candidateType === "relay");
  return relayed.relayProtocol;
}
"""


async def uses_protocol(watcher: Watcher, protocol: str) -> None:
    async def has_protocol() -> bool:
        return bool(await watcher.evaluate(PATHS) == protocol)

    await wait_until(f"{watcher.name}'s call uses {protocol}", has_protocol, within_s=WITHIN_S)


async def all_see_and_hear(*everybody: Watcher) -> None:
    pairs = [(one, other) for one in everybody for other in everybody if one is not other]
    await asyncio.gather(*(one.sees(other, frames=10, within_s=WITHIN_S) for one, other in pairs))
    await asyncio.gather(*(one.hears(other, within_s=WITHIN_S) for one, other in pairs))


async def is_shown(person: Person, path: str) -> None:
    """Wait until the quality panel shows this transport path."""
    await person.press("More call options")
    await person.page.get_by_role("menuitem", name="Call quality").click()
    panel = person.page.get_by_role("region", name="Call quality")
    await expect(panel.locator("dl > div").filter(has_text="Route")).to_contain_text(path)


async def test_chromium_and_firefox_without_udp_use_tcp_in_a_call_with_a_udp_user(
    tmp_path: Path,
) -> None:
    chrome, fox = bare_chromium(), firefox()
    if (reason := why_not()) or not chrome or not fox:
        pytest.skip(reason or "no browser")
    async with home_networks("ada", "grace", "alan") as world:
        homes = world.homes
        await homes["ada"].drops(UDP)
        await homes["grace"].drops(UDP)
        async with (
            server_in(world, tmp_path / "data") as product,
            people_in(homes["ada"], product.url, chrome) as people,
            people_in(homes["alan"], product.url, chrome) as others,
            firefox_in(homes["grace"], product.url, fox, tmp_path / "profile") as grace_there,
        ):
            ada, alan = await people.arrive("Ada"), await others.arrive("Alan")
            grace = await grace_there.arrive("Grace", product.url)
            for person in (ada, alan, grace):
                await person.join()
            await asyncio.gather(
                uses_protocol(ada, "tcp"), uses_protocol(grace, "tcp"), uses_protocol(alan, "udp")
            )
            await all_see_and_hear(ada, alan, grace)
            await asyncio.gather(is_shown(ada, "TCP"), is_shown(alan, "UDP, direct"), grace.does(SHOWN_TCP))
            # The call continues when UDP fails.
            await homes["alan"].drops(UDP)
            await uses_protocol(alan, "tcp")
            panel = alan.page.get_by_role("region", name="Call quality")
            await expect(panel.locator("dl > div").filter(has_text="Route")).to_contain_text("TCP")
            await asyncio.gather(alan.sees(ada, within_s=WITHIN_S), ada.sees(alan, within_s=WITHIN_S))


@pytest.mark.parametrize(
    "scheme",
    ["turns", pytest.param("turn", marks=pytest.mark.nightly("the same path without TLS runs daily"))],
)
async def test_a_call_uses_the_turn_server_if_only_https_gets_through(tmp_path: Path, scheme: str) -> None:
    chrome, fox = bare_chromium(), firefox()
    # Use a host name for TURN over TLS, because Firefox does not accept IP addresses there.
    host, names = (NAME, {NAME: TURN}) if scheme == "turns" else (TURN, {})
    if (reason := why_not() or (why_no_names() if names else "")) or not chrome or not fox:
        pytest.skip(reason or "no browser")
    required("turnserver")
    variables = {"TURN_URLS": f"{scheme}:{host}:443?transport=tcp", "TURN_SECRET": SECRET}
    authority = Authority()
    # These flags are only for Chromium. Firefox has no equivalent, so it gets the CA certificate.
    flags = ["--ignore-certificate-errors"]
    ports = {"port": 443, "tls_port": 5349} if scheme == "turn" else {"port": 3478, "tls_port": 443}
    async with home_networks("ada", "grace") as world:
        homes = world.homes
        await world.server.ip(f"addr add {TURN}/32 dev lo")
        await homes["ada"].drops(ALL_BUT_HTTPS)
        await homes["grace"].drops(ALL_BUT_HTTPS)
        async with (
            coturn(tmp_path, inside=world.server.inside, pair=authority.pair(name=NAME), **ports),
            server_in(world, tmp_path / "data", "--port", "443", **variables) as product,
            people_in(homes["ada"], product.url, chrome, flags, names=names) as people,
            firefox_in(
                homes["grace"], product.url, fox, tmp_path / "profile", names, authority.certificate
            ) as grace_there,
        ):
            ada = await people.arrive("Ada")
            grace = await grace_there.arrive("Grace", product.url)
            both: list[Watcher] = [ada, grace]
            await ada.join()
            await grace.join()
            await asyncio.gather(*(uses_protocol(person, "relay") for person in both))
            await is_shown(ada, "Through a relay")
            for person in both:
                assert await person.evaluate(RELAY) == ("tls" if scheme == "turns" else "tcp")
            await all_see_and_hear(*both)
