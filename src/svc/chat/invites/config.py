"""The limits on invites, as the operator has set them.

Reads variables and checks them; limits nothing. docs/configuration.md, "Chat server".
"""

from collections.abc import Mapping
from dataclasses import dataclass

from svc.base.config import number, text

# Each failure that counts is remembered, for every client.
MAX_RETRIES = 1000
_WEEK_MS = 7 * 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class InviteConfig:
    """None is off."""

    joins_per_hour: int | None = None
    max_retries: int = 8
    retry_window_ms: int = 300_000
    ip_max_retries: int | None = None
    cooldown_ms: int | None = None
    max_cooldown_ms: int | None = None


def read(variables: Mapping[str, str]) -> InviteConfig:
    """Raises ConfigError for what cannot be used."""
    return InviteConfig(
        joins_per_hour=_optional(variables, "SVC_INVITE_MAX_JOINS_PER_HOUR"),
        max_retries=number(variables, "SERVER_INVITE_MAX_RETRIES", 8, minimum=1, maximum=MAX_RETRIES),
        retry_window_ms=number(
            variables, "SERVER_INVITE_RETRY_WINDOW_MS", 300_000, minimum=1, maximum=_WEEK_MS
        ),
        ip_max_retries=_optional(variables, "SERVER_INVITE_IP_MAX_RETRIES", MAX_RETRIES),
        cooldown_ms=_optional(variables, "SERVER_INVITE_RETRY_COOLDOWN_MS", _WEEK_MS),
        max_cooldown_ms=_optional(variables, "SERVER_INVITE_MAX_COOLDOWN_MS", _WEEK_MS),
    )


def _optional(variables: Mapping[str, str], name: str, maximum: int | None = None) -> int | None:
    return number(variables, name, 1, minimum=1, maximum=maximum) if text(variables, name) else None
