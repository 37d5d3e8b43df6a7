"""Reads the operator's settings for identities and sign-in from environment variables.

Validates the settings, but does not verify identities. See docs/http.md, "Signing in and devices".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from svc.base.config_parsing import ConfigError, host_names, is_loopback, items, number, text
from svc.chat.authentication.jwt_verification import ACCOUNT, LOCAL, TIERS, Tier
from svc.chat.authentication.responses import Accounts, SignIn

MAX_TTL_DAYS = 3650
# The current and the older variable for the same setting, each with its accepted values.
_ENABLED: Mapping[str, Mapping[str, bool]] = {
    "SVC_SERVER_ENABLED": {
        **dict.fromkeys(("true", "1", "yes", "on"), True),
        **dict.fromkeys(("false", "0", "no", "off"), False),
    },
    "SVC_AUTH_MODE": {"required": True, "disabled": False},
}


@dataclass(frozen=True, slots=True)
class IdentityConfig:
    # The server name to which sign-ins are bound. If empty, a name is generated.
    server_id: str
    tiers: Sequence[Tier]
    oidc_issuer: str
    oidc_audience: str
    # The client secret; empty for a public client.
    oidc_client_secret: str = field(repr=False)
    cert_issuers: Sequence[str]
    # The reason why every join is rejected; empty if people can join.
    closed: str
    refresh_ttl_days: int
    # The server's public names.
    names: Sequence[str]

    def obstacle(self) -> str:
        """Return the reason why nobody can join, or an empty string if joining is possible."""
        if self.closed:
            return f"every join is refused: {self.closed}"
        if tuple(self.tiers) == (ACCOUNT,) and not (self.oidc_issuer or self.cert_issuers):
            return "SVC_IDENTITY_TIERS accepts accounts only, and no issuer of accounts is trusted"
        return ""

    def sign_in(self) -> SignIn:
        accounts = ACCOUNT in self.tiers
        issuer = self.oidc_issuer if accounts else ""
        return SignIn(
            open=not self.closed,
            local=LOCAL in self.tiers,
            account=Accounts(issuer, self.oidc_audience) if issuer else None,
            certificateIssuers=self.cert_issuers if accounts else (),
        )


def read(variables: Mapping[str, str]) -> IdentityConfig:
    """Read the variables. Raises ConfigError for invalid values."""
    oidc_issuer, oidc_audience = text(variables, "SVC_OIDC_ISSUER"), text(variables, "SVC_OIDC_AUDIENCE")
    if oidc_issuer and not oidc_audience:
        raise ConfigError(
            "SVC_OIDC_AUDIENCE must be set with SVC_OIDC_ISSUER: "
            "otherwise tokens for any service would be accepted"
        )
    return IdentityConfig(
        server_id=text(variables, "SERVER_ID"),
        tiers=_tiers(variables),
        oidc_issuer=_issuer("SVC_OIDC_ISSUER", oidc_issuer) if oidc_issuer else "",
        oidc_audience=oidc_audience,
        oidc_client_secret=text(variables, "SVC_OIDC_CLIENT_SECRET"),
        cert_issuers=[
            _issuer("SVC_TRUSTED_CERT_ISSUERS", issuer).rstrip("/")
            for issuer in items(variables, "SVC_TRUSTED_CERT_ISSUERS")
        ],
        closed=_closed_reason(variables),
        refresh_ttl_days=number(variables, "REFRESH_TOKEN_TTL_DAYS", 7, minimum=1, maximum=MAX_TTL_DAYS),
        names=host_names(variables, "EXTERNAL_HOST"),
    )


def _tiers(variables: Mapping[str, str]) -> tuple[Tier, ...]:
    tiers = [tier.lower() for tier in items(variables, "SVC_IDENTITY_TIERS", (ACCOUNT,))]
    if unknown := [tier for tier in tiers if tier not in TIERS]:
        raise ConfigError(f"SVC_IDENTITY_TIERS may name {' and '.join(TIERS)}, not {unknown[0]!r}")
    return tuple(tier for tier in TIERS if tier in tiers)


def _closed_reason(variables: Mapping[str, str]) -> str:
    """Return the reason why joins are disabled, or an empty string. The newer variable takes precedence. An
    unknown value disables joins.
    """
    values = {name: text(variables, name) for name in _ENABLED}
    for name, value in values.items():
        if value:
            match _ENABLED[name].get(value.lower()):
                case True:
                    return ""
                case False:
                    return f"{name} is {value}"
                case None:
                    return f"{name} has a value that is not known: {value!r}"
    return ""


def _issuer(variable: str, address: str) -> str:
    """Check that a variable contains an https URL, and return the URL. Raises ConfigError.

    An http URL is permitted only on this machine, because on a network an attacker could replace the issuer's
    keys.
    """
    try:
        parts = urlsplit(address)
        secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        usable = secure and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username:
        raise ConfigError(f"{variable} must be an https:// address, not {address!r}")
    return address
