"""Defines the event for a resolved report. The types of bans and reports are defined with their tables."""

from svc.chat.schemas import Id, Response


class ReportResolved(Response):
    report_id: Id
    resolved_by: Id
