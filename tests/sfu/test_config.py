"""The SFU reads exactly the documented environment variables, with the documented defaults and checks."""

from collections.abc import Iterator, Mapping

import pytest

from svc.base.config_parsing import ConfigError
from svc.sfu.config import Config


class Recording(Mapping[str, str]):
    """A mapping of environment variables that records which variables have been read."""

    def __init__(self) -> None:
        self.names_read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names_read.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("variables are read by name")

    def __len__(self) -> int:
        raise AssertionError("variables are read by name")


def test_exactly_the_specified_variables_are_read() -> None:
    variables = Recording()
    Config.read(variables)
    assert variables.names_read == {
        *("SFU_PORT", "PORT", "ICE_UDP_MUX_PORT", "STUN_SERVERS", "DISABLE_STUN", "ICE_ADVERTISE_IP"),
        *("MAX_PEERS", "DEBUG", "VERBOSE_LOG"),
    }


def test_the_defaults_match_the_specification() -> None:
    assert Config.read({}) == Config(
        port=5005,
        udp_port=3478,
        stun_servers=(("stun.l.google.com", 19302),),
        disable_stun=False,
        advertised=(),
        max_peers=200,
        debug=True,
        verbose_log=False,
    )


def test_every_variable_has_an_effect() -> None:
    variables = {
        "SFU_PORT": "6000",
        "PORT": "7000",
        "ICE_UDP_MUX_PORT": "4000",
        "STUN_SERVERS": "stun:one.example:1, two.example ,[2001:db8::1]:5, 2001:db8::2",
        "DISABLE_STUN": "true",
        "ICE_ADVERTISE_IP": "203.0.113.7, 2001:DB8::7",
        "MAX_PEERS": "5",
        "DEBUG": "false",
        "VERBOSE_LOG": "true",
    }
    assert Config.read(variables) == Config(
        port=6000,
        udp_port=4000,
        stun_servers=(("one.example", 1), ("two.example", 3478), ("2001:db8::1", 5), ("2001:db8::2", 3478)),
        disable_stun=True,
        advertised=("203.0.113.7", "2001:db8::7"),
        max_peers=5,
        debug=False,
        verbose_log=True,
    )


def test_sfu_port_falls_back_to_port() -> None:
    assert Config.read({"PORT": "7000"}).port == 7000


def test_the_former_variables_for_a_port_range_are_ignored() -> None:
    assert Config.read({"ICE_UDP_PORT_MIN": "x", "ICE_UDP_PORT_MAX": "y"}) == Config.read({})


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_stun_servers_variable_means_no_servers(value: str) -> None:
    assert Config.read({"STUN_SERVERS": value}).stun_servers == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SFU_PORT", "http"),
        ("ICE_UDP_MUX_PORT", "65536"),
        ("MAX_PEERS", "0"),
        ("STUN_SERVERS", "stun.example:port"),
        ("STUN_SERVERS", "stun.example:0"),
        ("STUN_SERVERS", ":3478"),
        ("STUN_SERVERS", "nonsense::"),
        ("ICE_ADVERTISE_IP", "sfu.example"),
    ],
)
def test_the_error_for_an_invalid_value_names_the_variable(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.read({name: value})
