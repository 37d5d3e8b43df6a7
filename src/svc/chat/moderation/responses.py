"""Response types for bans and reports, and the event for a resolved report.

`Ban` and `Report` are also the types of rows, and are defined with their tables.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.moderation.reports import Report
from svc.chat.moderation.rules import Ban
from svc.chat.schemas import Id, Response

MAX_PAGE = 200


class Bans(Response):
    bans: Annotated[Sequence[Ban], Meta(max_length=MAX_PAGE)]
    next: Id | None


class ReportPage(Response):
    reports: Annotated[Sequence[Report], Meta(max_length=MAX_PAGE)]
    next: Id | None
