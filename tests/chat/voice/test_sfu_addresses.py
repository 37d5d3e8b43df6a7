"""The operator's settings determine the media service addresses that members get."""

import pytest

from svc.base.config_parsing import ConfigError
from svc.chat.config import read
from svc.chat.voice.rules import ways_of_members

REQUIRED = {"JWT_SECRET": "s" * 32, "SERVER_ID": "s1", "SERVER_PASSWORD": "p1"}


@pytest.mark.parametrize(
    ("hosts", "public_hosts", "urls"),
    [
        ("sfu:5005", "", [["/sfu/client"]]),
        (
            "sfu:5005",
            "a.example, b.example",
            [["wss://a.example/client", "wss://b.example/client", "/sfu/client"]],
        ),
        ("one:5005, two:5005", "", [["/sfu/client"], ["/sfu/client?service=1"]]),
        (
            "one:5005, two:5005",
            "a.example, b.example",
            [["wss://a.example/client", "/sfu/client"], ["wss://b.example/client", "/sfu/client?service=1"]],
        ),
    ],
)
def test_each_service_has_its_own_addresses(hosts: str, public_hosts: str, urls: list[list[str]]) -> None:
    config = read(REQUIRED | {"SFU_WS_HOST": hosts, "SFU_PUBLIC_HOST": public_hosts})
    assert ways_of_members(config.media) == urls


@pytest.mark.parametrize(
    ("hosts", "public_hosts", "problem"),
    [
        ("one:5005, one:5005", "", "SFU_WS_HOST names a media service twice"),
        ("one:5005, ftp://two", "", "SFU_WS_HOST must be host:port"),
        (
            "one:5005, two:5005",
            "a.example",
            "SFU_PUBLIC_HOST must list a host for each of the 2 in SFU_WS_HOST",
        ),
    ],
)
def test_address_lists_of_different_lengths_are_rejected(hosts: str, public_hosts: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        read(REQUIRED | {"SFU_WS_HOST": hosts, "SFU_PUBLIC_HOST": public_hosts})
