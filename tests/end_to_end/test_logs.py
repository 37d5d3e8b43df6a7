"""Tests how DEBUG and VERBOSE_LOG affect the media service's log. See docs/configuration.md, "SFU"."""

import platform
import re

import pytest

from svc._rtp.srtp import ENCRYPTION
from tests.kit.aiortc_guests import Guests
from tests.kit.openssl_instructions import WITHOUT_AES
from tests.kit.sfu_process import SfuProcess


async def connect_two(guests: Guests) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await grace.sees(ada)
    await ada.hears(grace)


async def test_rooms_and_connections_are_logged_by_default(sfu: SfuProcess, guests: Guests) -> None:
    await connect_two(guests)
    assert "peer joined room=lobby user=ada" in sfu.output
    assert "packet forwarded" not in sfu.output


@pytest.mark.parametrize("sfu", [{"DEBUG": "false"}], indirect=True)
async def test_debug_set_to_false_silences_rooms_and_connections(sfu: SfuProcess, guests: Guests) -> None:
    await connect_two(guests)
    assert "lobby" not in sfu.output
    assert "ada" not in sfu.output


@pytest.mark.parametrize("sfu", [{"VERBOSE_LOG": "true", "DEBUG": "false"}], indirect=True)
async def test_verbose_log_lists_each_forwarded_packet(sfu: SfuProcess, guests: Guests) -> None:
    await connect_two(guests)
    forwarded = [line for line in sfu.output.splitlines() if "packet forwarded" in line]
    assert len(forwarded) > 50
    fields = ("to=", "ssrc=", "sequence=", "as_ssrc=", "as_sequence=")
    assert all(field in line for line in forwarded for field in fields)


async def test_the_startup_log_and_the_metrics_name_the_media_encryption(sfu: SfuProcess) -> None:
    assert await how_media_is_encrypted(sfu) == ENCRYPTION


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="OpenSSL uses other variables on this machine"
)
@pytest.mark.parametrize("sfu", [WITHOUT_AES], indirect=True)
async def test_a_processor_without_aes_instructions_is_reported(sfu: SfuProcess) -> None:
    assert await how_media_is_encrypted(sfu) == ENCRYPTION | {"aes": "software"}


async def how_media_is_encrypted(sfu: SfuProcess) -> dict[str, str]:
    """Return the media encryption named in the log. Check that the metrics agree."""
    (line,) = (line for line in sfu.output.splitlines() if " encryption " in line)
    logged = dict(re.findall(r"(\w+)=(\S+)", line))
    (sample,) = (name for name in await sfu.metrics() if name.startswith("svc_sfu_encryption_info"))
    assert dict(re.findall(r'(\w+)="([^"]+)"', sample)) == logged
    return logged
