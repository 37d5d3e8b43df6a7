"""The operator's settings determine which identities may join. With an invalid setting, nobody can join.

See docs/http.md, "Signing in and devices".
"""

import pytest

from svc.base.config_parsing import ConfigError
from svc.chat.authentication.config import read
from svc.chat.authentication.trusted_issuers import ServerAddresses, TrustedIssuers


@pytest.mark.parametrize(
    ("variables", "opened"),
    [
        ({}, True),
        ({"SVC_SERVER_ENABLED": ""}, True),
        ({"SVC_SERVER_ENABLED": "true"}, True),
        ({"SVC_SERVER_ENABLED": "TRUE"}, True),
        ({"SVC_SERVER_ENABLED": "on"}, True),
        ({"SVC_SERVER_ENABLED": "false"}, False),
        ({"SVC_SERVER_ENABLED": "0"}, False),
        # An unknown value of the new or the old variable keeps everyone out.
        ({"SVC_SERVER_ENABLED": "perhaps"}, False),
        ({"SVC_SERVER_ENABLED": "required"}, False),
        ({"SVC_AUTH_MODE": "required"}, True),
        ({"SVC_AUTH_MODE": "disabled"}, False),
        ({"SVC_AUTH_MODE": "optional"}, False),
        ({"SVC_AUTH_MODE": "true"}, False),
        # The new variable takes precedence.
        ({"SVC_SERVER_ENABLED": "true", "SVC_AUTH_MODE": "disabled"}, True),
        ({"SVC_SERVER_ENABLED": "false", "SVC_AUTH_MODE": "required"}, False),
        ({"SVC_SERVER_ENABLED": "perhaps", "SVC_AUTH_MODE": "required"}, False),
        ({"SVC_SERVER_ENABLED": "true", "SVC_AUTH_MODE": "nonsense"}, True),
    ],
)
def test_the_operator_can_disable_joins(variables: dict[str, str], opened: bool) -> None:
    assert (read(variables).closed == "") is opened


@pytest.mark.parametrize(
    ("value", "tiers"),
    [
        ("", ("account",)),
        ("account", ("account",)),
        ("local", ("local",)),
        ("local, Account,local", ("account", "local")),
    ],
)
def test_the_variable_lists_the_accepted_identity_tiers(value: str, tiers: tuple[str, ...]) -> None:
    assert read({"SVC_IDENTITY_TIERS": value}).tiers == tiers


@pytest.mark.parametrize(
    "variables",
    [
        {"SVC_IDENTITY_TIERS": "acount"},
        {"SVC_OIDC_ISSUER": "https://id.example"},
        {"SVC_OIDC_ISSUER": "http://id.example", "SVC_OIDC_AUDIENCE": "a"},
        {"SVC_OIDC_ISSUER": "id.example", "SVC_OIDC_AUDIENCE": "a"},
        {"SVC_OIDC_ISSUER": "https://id.example?x=1", "SVC_OIDC_AUDIENCE": "a"},
        {"SVC_OIDC_ISSUER": "https://user@id.example", "SVC_OIDC_AUDIENCE": "a"},
        {"SVC_OIDC_ISSUER": "https://[", "SVC_OIDC_AUDIENCE": "a"},
        {"SVC_TRUSTED_CERT_ISSUERS": "https://a.example, ftp://b.example"},
        {"REFRESH_TOKEN_TTL_DAYS": "0"},
        {"REFRESH_TOKEN_TTL_DAYS": "soon"},
    ],
)
def test_an_invalid_configuration_prevents_startup(variables: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="|".join(variables)):
        read(variables)


def test_an_issuer_on_the_same_machine_does_not_need_https() -> None:
    config = read(
        {
            "SVC_OIDC_ISSUER": "http://127.0.0.1:1234",
            "SVC_OIDC_AUDIENCE": "a",
            "SVC_TRUSTED_CERT_ISSUERS": "https://ca.example/, http://localhost:5",
        }
    )
    assert config.cert_issuers == ["https://ca.example", "http://localhost:5"]


@pytest.mark.parametrize(
    ("names", "origin", "host", "ours"),
    [
        ([], "http://127.0.0.1:5000", "127.0.0.1:5000", True),
        ([], "https://chat.example", "chat.example", True),
        ([], "https://chat.example", "chat.example:443", True),
        ([], "https://Chat.Example", "chat.example", True),
        ([], "http://[::1]:5000", "[::1]:5000", True),
        ([], "https://chat.example:8443", "chat.example", False),
        ([], "https://evil.example", "chat.example", False),
        ([], "ftp://chat.example", "chat.example", False),
        ([], "https://chat.example/path", "chat.example", False),
        ([], "https://user@chat.example", "chat.example", False),
        ([], "https://chat.example:99999", "chat.example:99999", False),
        ([], "chat.example", "chat.example", False),
        ([], "", "", False),
        # If the operator has set the server's name, the server has no other name, regardless of the Host
        # header.
        (["chat.example"], "https://evil.example", "evil.example", False),
        (["chat.example"], "https://chat.example", "10.0.0.5:5000", True),
        (["chat.example:8443"], "https://chat.example:8443", "chat.example:8443", True),
        (["chat.example:8443"], "https://chat.example", "chat.example", False),
        (["chat.example"], "http://127.0.0.1:5000", "127.0.0.1:5000", True),
        (["chat.example"], "http://192.168.1.4:5000", "192.168.1.4:5000", True),
        (["chat.example"], "http://192.168.1.4:5000", "chat.example", False),
        (["chat.example"], "http://1.1.1.1", "1.1.1.1", False),
    ],
)
def test_the_servers_own_addresses_are_recognised(
    names: list[str], origin: str, host: str, ours: bool
) -> None:
    assert ServerAddresses(names).include(origin, host) is ours


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "nobody can join"),
        ({"SVC_IDENTITY_TIERS": "local", "SVC_SERVER_ENABLED": "off"}, "every join is refused"),
        ({"SVC_TRUSTED_CERT_ISSUERS": "https://ca.example"}, "EXTERNAL_HOST is not set"),
        ({"SVC_TRUSTED_CERT_ISSUERS": "https://ca.example", "EXTERNAL_HOST": "chat.example"}, ""),
        ({"SVC_IDENTITY_TIERS": "local"}, ""),
    ],
)
def test_suspicious_configuration_is_logged(
    variables: dict[str, str], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    TrustedIssuers.of(read(variables), "s1")
    assert words in caplog.text
    assert bool(caplog.text) is bool(words)
