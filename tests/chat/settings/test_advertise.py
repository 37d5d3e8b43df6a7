"""The server is advertised on the local network as configured. The tests look it up with avahi-browse.

The server and the browser are two machines on a simulated network (`tests.kit.avahi_link`).
"""

import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.chat.settings.mdns_advertiser import Advertisement, system_interfaces
from svc.chat.settings.mdns_records import AdvertisedServer, Interface
from tests.chat.chat_server import chat_server
from tests.kit.avahi_link import Browser, Lan, browsing, lan, why_not
from tests.kit.chat_process import ChatProcess, chat_process
from tests.kit.fork_server import shared
from tests.kit.wait import eventually

SERVICE = "_svc-chat._tcp"
missing = why_not()
in_a_network = pytest.mark.skipif(bool(missing), reason=f"no private network namespace: {missing}")


@pytest.fixture
async def network() -> AsyncIterator[Lan]:
    async with lan() as made:
        yield made


@pytest.fixture
async def browser(network: Lan) -> AsyncIterator[Browser]:
    async with browsing(network, SERVICE) as started:
        yield started


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {
        "HOST": "0.0.0.0",
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "SERVER_NAME": "Tests",
        "SERVER_ID": "id-1",
        "SERVER_DISCOVERABLE": "true",
    }


def _port(chat: ChatProcess) -> str:
    return chat.address.rpartition(":")[2]


async def _set(data_dir: str, name: str, value: str) -> None:
    command = ("admin", "settings", "set", name, value, "--data-dir", data_dir)
    server = shared()
    assert server is not None
    assert await (await server.start(command, os.environ)).wait() == 0


@in_a_network
async def test_a_server_is_advertised_while_the_setting_is_on(
    network: Lan, browser: Browser, variables: dict[str, str]
) -> None:
    async with chat_process(variables, network.server) as chat:
        await browser.until("advertised", "Tests")
        assert browser.advertised["Tests"] == (
            f'10.7.0.1:{_port(chat)} "path=/" "name=Tests" "id=id-1" "txtvers=1"'
        )
        await _set(variables["DATA_DIR"], "discoverable", "off")
        await browser.until("withdrawn")
        await _set(variables["DATA_DIR"], "discoverable", "on")
        await browser.until("advertised again", "Tests")
        await _set(variables["DATA_DIR"], "name", "Chess")
        await browser.until("advertised under its new name", "Chess")
        os.killpg(chat.process.pid, signal.SIGTERM)
        await browser.until("withdrawn by a server that stops")


@in_a_network
async def test_two_servers_with_the_same_name_on_one_machine_are_distinguishable(
    network: Lan, browser: Browser, variables: dict[str, str], tmp_path: Path
) -> None:
    other = {**variables, "SERVER_ID": "id-2", "DATA_DIR": str(tmp_path / "other")}
    second = r"Tests\032\0402\041"  # "Tests (2)"
    async with chat_process(variables, network.server) as chat:
        await browser.until("advertised", "Tests")
        async with chat_process(other, network.server) as another:
            await browser.until("advertised under another name", "Tests", second)
            assert browser.advertised["Tests"].startswith(f"10.7.0.1:{_port(chat)} ")
            assert browser.advertised[second].startswith(f"10.7.0.1:{_port(another)} ")
            await _set(variables["DATA_DIR"], "discoverable", "off")
            await browser.until("only the first is withdrawn", second)


@in_a_network
@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"EXTERNAL_HOST": "chat.example.org:443"}, "203.0.113.9:443"),
        ({"HOST": "127.0.0.1"}, "127.0.0.1:{port}"),
        ({"MDNS_INTERFACE": "cable"}, "10.7.0.1:{port}"),
    ],
)
async def test_the_operator_chooses_the_advertised_address_and_interface(
    network: Lan, browser: Browser, variables: dict[str, str], changes: dict[str, str], shown: str
) -> None:
    async with chat_process({**variables, **changes}, network.server) as chat:
        await browser.until("advertised", "Tests")
        assert browser.advertised["Tests"].startswith(shown.format(port=_port(chat)) + " ")


@in_a_network
async def test_the_server_is_advertised_only_on_a_pinned_interface(
    network: Lan, browser: Browser, variables: dict[str, str], tmp_path: Path
) -> None:
    other = {**variables, "SERVER_NAME": "Other", "SERVER_ID": "id-2", "DATA_DIR": str(tmp_path / "other")}
    async with (
        chat_process({**variables, "MDNS_INTERFACE": "lo"}, network.server),
        chat_process(other, network.server),
    ):
        # The second server has been advertised, so the first one would have been advertised by now.
        await browser.until("advertised", "Other")


async def test_a_server_on_loopback_is_advertised_with_a_warning(
    variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with chat_server({**variables, "HOST": "127.0.0.1", "MDNS_INTERFACE": "lo"}):
        await eventually(
            "the warning is logged",
            lambda: "advertised at an address that only this machine can reach" in caplog.text,
            within_s=20,
        )


@pytest.mark.parametrize(
    ("interfaces", "announced", "fault"),
    [
        ([], AdvertisedServer("Tests", "id-1", "0.0.0.0", 5000), "no network has an address"),
        (
            [Interface("lo", 1, ["127.0.0.1"])],
            AdvertisedServer("Tests", "id-1", "0.0.0.0", 5000, interface="eth9"),
            "no MDNS_INTERFACE eth9 has an address",
        ),
        (
            [Interface("eth0", 2, ["2001:db8::77"])],
            AdvertisedServer("Tests", "id-1", "0.0.0.0", 5000),
            "this machine has no address that matches HOST 0.0.0.0",
        ),
        # The address does not belong to the machine, so the system cannot send from it. zeroconf leaves the
        # sockets that it has already opened to the garbage collector.
        pytest.param(
            [Interface("eth0", 2, ["192.0.2.77"])],
            AdvertisedServer("Tests", "id-1", "0.0.0.0", 5000),
            "",
            marks=pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
        ),
    ],
)
async def test_a_failed_advertisement_only_logs_a_warning(
    interfaces: list[Interface], announced: AdvertisedServer, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    advertisement = Advertisement(announced, lambda: interfaces, recheck_s=0.01)
    await advertisement.follow(True)
    await eventually("a warning is logged", lambda: _warnings(caplog), within_s=20)
    assert fault in _warnings(caplog)[0].__dict__["fault"]
    await advertisement.close()
    # The server keeps retrying, but logs the failure only once.
    assert len(_warnings(caplog)) == 1


async def test_the_server_is_advertised_on_an_interface_that_appears_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    interfaces: list[Interface] = []
    server = AdvertisedServer("Tests", "id-1", "127.0.0.1", 5000, interface="lo")
    advertisement = Advertisement(server, lambda: interfaces, recheck_s=0.01)
    await advertisement.follow(True)
    await eventually("a warning is logged", lambda: _warnings(caplog), within_s=20)
    interfaces.extend(system_interfaces())
    await eventually("advertised", lambda: "advertised at" in caplog.text, within_s=20)
    await advertisement.close()


async def test_the_server_is_not_advertised_before_the_setting_is_on_or_after_shutdown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    calls: list[bool] = []

    def interfaces() -> list[Interface]:
        calls.append(True)
        return []

    advertisement = Advertisement(AdvertisedServer("Tests", "id-1", "127.0.0.1", 5000), interfaces)
    await advertisement.follow(False)
    await advertisement.close()
    await advertisement.follow(True)
    assert calls == []


def _warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [r for r in caplog.records if r.getMessage() == "not advertised on the local network"]
