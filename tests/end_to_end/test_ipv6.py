"""Calls over IPv6 work like calls over IPv4, and IPv4 and IPv6 clients can share a room."""

import asyncio

import pytest

from tests.kit.aiortc_client import ClientOptions
from tests.kit.aiortc_guests import Guests
from tests.kit.sfu_process import SfuProcess

V4, V6 = ClientOptions("127.0.0.1"), ClientOptions("::1")


@pytest.mark.parametrize(
    ("sfu", "ada_is_at", "grace_is_at"),
    [
        ({"ICE_ADVERTISE_IP": "::1"}, V6, V6),
        ({"ICE_ADVERTISE_IP": "127.0.0.1,::1"}, V4, V6),
    ],
    indirect=["sfu"],
    ids=["both over IPv6", "one over each"],
)
async def test_two_people_can_call_each_other_over_any_combination_of_address_families(
    sfu: SfuProcess, guests: Guests, ada_is_at: ClientOptions, grace_is_at: ClientOptions
) -> None:
    ada, grace = await guests.arrive("ada", means=ada_is_at), await guests.arrive("grace", means=grace_is_at)
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
    assert ada.remote_address == (ada_is_at.address, sfu.udp_port)
    assert grace.remote_address == (grace_is_at.address, sfu.udp_port)
