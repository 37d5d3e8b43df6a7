"""Whom this server believes, and what it is called: what sign-ins are held against.

An assertion for one server is worth nothing at another.
"""

import logging
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from svc.base.private_files import kept
from svc.chat.joining.config import IdentityConfig
from svc.chat.joining.proof import ACCOUNT, Tier
from svc.chat.joining.server_addresses import ServerAddresses

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trust:
    audience: str
    tiers: Sequence[Tier]
    oidc_issuer: str
    oidc_audience: str
    cert_issuers: Collection[str]
    addresses: ServerAddresses
    # Why nobody is let in; empty otherwise.
    closed: str

    @classmethod
    def of(
        cls,
        config: IdentityConfig,
        audience: str,
        *,
        secure: bool = False,
        local_names: Sequence[str] = (),
    ) -> "Trust":
        """As configured; says in the log what will keep people out, or let too many in."""
        vouching = bool(config.oidc_issuer or config.cert_issuers)
        if obstacle := config.obstacle():
            logger.warning("nobody can join: %s", obstacle)
        if ACCOUNT in config.tiers and vouching and not config.names:
            logger.warning("EXTERNAL_HOST is not set: another server could pass on sign-ins made for it")
        return cls(
            audience,
            config.tiers,
            config.oidc_issuer,
            config.oidc_audience,
            config.cert_issuers,
            ServerAddresses(config.names, secure=secure, local_names=local_names),
            config.closed,
        )


def kept_server_id(configured: str, data_dir: Path) -> str:
    """SERVER_ID as configured; else a name made up once, kept in the data folder."""
    return configured or kept(data_dir / "server-id", lambda: f"{uuid.uuid4()}\n").strip()
