"""Builds the services that features share, for tests that build a feature without a server."""

import itertools
from collections.abc import Callable

from svc.base.database import Database
from svc.base.ids import Ids
from svc.chat.access.directory import Directory
from svc.chat.audit.log import Audit
from svc.chat.live.hub import Hub
from svc.chat.services import Changes, Services


def services_on(
    database: Database,
    directory: Directory,
    now: Callable[[], float],
    *,
    hub: Hub | None = None,
    random_bits: Callable[[int], int] | None = None,
) -> Services:
    """Build the services. Without `random_bits`, a counter replaces random numbers."""
    counted = itertools.count()
    return Services(
        database=database,
        directory=directory,
        hub=Hub(directory, now) if hub is None else hub,
        audit=Audit(database, directory),
        changes=Changes(),
        ids=Ids(now, random_bits or (lambda _: next(counted))),
    )
