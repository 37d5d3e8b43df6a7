"""What every group of features is built on: the database, who may do what, and who hears.

Has no rules of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from svc.base.database import Database
from svc.base.ids import Ids
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.audit.rules import Audit
from svc.chat.live.hub import Hub


@dataclass(frozen=True, slots=True)
class Ground:
    database: Database
    directory: Directory
    hub: Hub
    audit: Audit
    changes: Changes
    ids: Ids

    @property
    def new_id(self) -> Callable[[], str]:
        return self.ids.new
