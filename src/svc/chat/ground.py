"""What every group of features is built on: the configuration, the database, who may do what, and who hears.

Has no rules of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from svc.base.database import Database
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.audit.rules import Audit
from svc.chat.config import ChatConfig
from svc.chat.live.hub import Hub


@dataclass(frozen=True, slots=True)
class Ground:
    config: ChatConfig
    database: Database
    directory: Directory
    hub: Hub
    audit: Audit
    changes: Changes
    # Makes ids that rise.
    new_id: Callable[[], str]
