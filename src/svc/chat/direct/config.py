"""How long encrypted messages of private conversations are kept. docs/configuration.md, "Chat server"."""

from collections.abc import Mapping

from svc.base.config import text

MLS_RETENTION_DAYS = 30


def retention_days(variables: Mapping[str, str]) -> int:
    """It can only shorten: what is longer, or no whole number of days, gives the usual time."""
    value = text(variables, "MLS_RETENTION_DAYS")
    if value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MLS_RETENTION_DAYS and len(value) <= 6:
        return int(value)
    return MLS_RETENTION_DAYS
