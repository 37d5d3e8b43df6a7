"""Links printed by `svc admin` start with a base URL that other people can open."""

import pytest

from svc.tools.admin.address import link_address

NEARBY = ["127.0.0.1", "192.168.1.7"]
EXPECTED = {"names": ["chat.example.org"]}


@pytest.mark.parametrize(
    ("status", "secure", "base"),
    [
        ({"address": "http://127.0.0.1:5000"}, False, "http://127.0.0.1:5000"),
        ({"address": "https://0.0.0.0:5000"}, False, "https://192.168.1.7:5000"),
        ({"address": "https://0.0.0.0:443"}, False, "https://192.168.1.7"),
        ({"address": "https://[::]:5000"}, False, "https://192.168.1.7:5000"),
        # The server has a host name and its own TLS certificate.
        ({"address": "https://0.0.0.0:5000"} | EXPECTED, False, "https://chat.example.org:5000"),
        ({"address": "https://0.0.0.0:443"} | EXPECTED, False, "https://chat.example.org"),
        # The proxy in front of the server has the certificate.
        ({"address": "http://127.0.0.1:5000"} | EXPECTED, False, "https://chat.example.org"),
        (
            {"address": "http://10.0.0.2:80", "names": ["a:84"], "trusted_proxy_hops": 1},
            False,
            "https://a:84",
        ),
        # The server is being tried out over plain HTTP.
        ({"address": "http://0.0.0.0:5000", "names": ["box"]}, False, "http://box:5000"),
        # The server is not running.
        ({"host": "0.0.0.0", "port": 5001}, True, "https://192.168.1.7:5001"),
        (EXPECTED, False, "https://chat.example.org"),
    ],
)
def test_printed_links_start_with_the_public_address(
    status: dict[str, object], secure: bool, base: str
) -> None:
    usual = {"address": "", "host": "127.0.0.1", "port": 5000, "names": [], "trusted_proxy_hops": 0}
    assert link_address(usual | status, NEARBY, secure_if_stopped=secure) == base
