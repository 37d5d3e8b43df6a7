"""Tests calls with an independent client, aiortc: media, joining, leaving and ciphers.

See docs/signalling.md.
"""

import asyncio

import pytest

from svc.sfu.codecs import VIDEO
from tests.kit.aiortc_client import CAMERA, SCREEN, AiortcClient, ClientOptions
from tests.kit.aiortc_guests import Guests
from tests.kit.sfu_process import ControlConnection, SfuProcess
from tests.kit.synthetic_media import Picture

GCM, CM = b"SRTP_AEAD_AES_128_GCM", b"SRTP_AES128_CM_SHA1_80"


async def converse(*people: AiortcClient) -> None:
    """Wait until all of these people can see and hear each other."""
    pairs = [(one, other) for one in people for other in people if one is not other]
    await asyncio.gather(*(one.sees(other) for one, other in pairs))
    await asyncio.gather(*(one.hears(other) for one, other in pairs))


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_two_people_see_and_hear_each_other(sfu: SfuProcess, guests: Guests, codec: str) -> None:
    ada = await guests.arrive("ada", means=ClientOptions(codec=codec))
    grace = await guests.arrive("grace", means=ClientOptions(codec=codec))
    await converse(ada, grace)
    payload_types = {number.payload_type for number in VIDEO if number.name == codec}
    for one, other in ((ada, grace), (grace, ada)):
        assert one.srtp_profile == GCM
        assert one.remote_address == ("127.0.0.1", sfu.udp_port)
        section = one.section(other)
        assert section and section.payload_types and section.payload_types <= payload_types
        assert one.errors == []
    metrics = await sfu.metrics()
    assert metrics["svc_sfu_packets_received_total"] > 20 and metrics["svc_sfu_packets_sent_total"] > 20
    for harm in ("unauthenticated", "not_negotiated", "malformed", "pool_exhausted", "send_failed"):
        assert metrics[f"svc_sfu_dropped_{harm}_total"] == 0


@pytest.mark.parametrize(
    ("adas", "graces"),
    [
        (ClientOptions(), ClientOptions(srtp_profile=CM)),
        (ClientOptions(dtls_role="server"), ClientOptions(srtp_profile=CM, dtls_role="server")),
    ],
    ids=["the service is the DTLS server", "the service is the DTLS client"],
)
async def test_people_with_different_ciphers_see_and_hear_each_other(
    guests: Guests, adas: ClientOptions, graces: ClientOptions
) -> None:
    ada, grace = await guests.arrive("ada", means=adas), await guests.arrive("grace", means=graces)
    await converse(ada, grace)
    assert (ada.srtp_profile, grace.srtp_profile) == (GCM, CM)


async def test_a_client_without_candidates_is_found_by_its_connectivity_checks(guests: Guests) -> None:
    def without_candidates(sdp: str) -> str:
        return "".join(line for line in sdp.splitlines(keepends=True) if "candidate" not in line)

    ada = await guests.arrive("ada", means=ClientOptions(answered=without_candidates))
    await converse(ada, await guests.arrive("grace"))


async def test_a_participant_who_leaves_disappears_for_the_others(
    guests: Guests, control: ControlConnection
) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    section = await ada.sees(grace)
    assert (section.ended, ada.directions[section.mid]) == (False, "recvonly")
    await grace.leave()
    await asyncio.gather(ada.lost(grace), ada.lost(grace, "mic"))
    assert (section.ended, ada.directions[section.mid]) == (True, "inactive")
    await control.hear("peer_left")
    assert await control.sync() == {"lobby": ["ada"]}
    assert ada.closed is None


async def test_a_participant_who_joins_later_gets_every_track(guests: Guests) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await converse(ada, grace)
    edsger = await guests.arrive("edsger")
    await converse(ada, grace, edsger)
    assert sorted(edsger.welcome["peers"]) == ["ada", "grace"]


async def test_the_media_sections_of_a_former_participant_are_reused(guests: Guests) -> None:
    ada = await guests.arrive("ada")
    sections: set[frozenset[str]] = set()
    for name in ("grace", "edsger", "barbara"):
        other = await guests.arrive(name)
        await converse(ada, other)
        sections.add(frozenset(ada.directions))
        await other.leave()
        await asyncio.gather(ada.lost(other), ada.lost(other, "mic"))
    assert sections == {frozenset({"0", "1", "2", "3", "4", "5"})}


async def test_a_camera_can_be_turned_off_and_on_during_a_screen_share(guests: Guests) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await converse(ada, grace)
    camera = ada.sends.pop(CAMERA)
    await ada.send("renegotiate", {})
    await grace.lost(ada)
    ada.sends |= {CAMERA: camera, SCREEN: Picture(ada.voice.shade)}
    await ada.send("renegotiate", {})
    await asyncio.gather(grace.sees(ada), grace.sees(ada, source="screen"), grace.hears(ada))
    assert grace.errors == ada.errors == []
