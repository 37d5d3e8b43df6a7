"""Defines the chat server's metrics. See docs/configuration.md."""

from collections import Counter
from collections.abc import Callable, Mapping, Sized
from functools import wraps

from svc.base.database import Database
from svc.base.metrics import Registry
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Handler
from svc.chat.errors import ChatError
from svc.chat.server_status.health_report import Link


class RequestCounts:
    """Counters of requests by route or event, and by outcome."""

    def __init__(self) -> None:
        self.http: Counter[tuple[str, ...]] = Counter()
        self.live: Counter[tuple[str, ...]] = Counter()
        self.pictures: Counter[tuple[str, ...]] = Counter()
        self.previews: Counter[tuple[str, ...]] = Counter()
        self.pushes: Counter[tuple[str, ...]] = Counter()

    def count_requests(self, event: str, handler: Handler) -> Handler:
        """Wrap a live socket handler to count its requests by outcome: `ok` or an error code."""

        @wraps(handler)
        async def count(session: Session, data: Mapping[str, object]) -> object:
            outcome = "internal_error"
            try:
                reply = await handler(session, data)
                outcome = "ok"
            except ChatError as refusal:
                outcome = refusal.code
                raise
            finally:
                self.live[event, outcome] += 1
            return reply

        return count


def measurements(
    pages: Sized, signalling: Sized, members: Sized, link: Link, database: Database, tally: RequestCounts
) -> Registry:
    registry = Registry()
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "svc_chat_live_connections_active": ("Pages signed in on the live socket", lambda: len(pages)),
        "svc_chat_signalling_connections_active": (
            "Participants passed through to the media service",
            lambda: len(signalling),
        ),
        "svc_chat_members": ("Members", lambda: len(members)),
        "svc_chat_sfu_link_up": (
            "Is the media service connected and synchronised?",
            lambda: link.synchronised,
        ),
        "svc_chat_database_log_bytes": ("Size of the write-ahead log", database.log_bytes),
    }
    for name, (description, value) in gauges.items():
        registry.gauge(name, description).set_function(value)
    count = registry.labelled_counter_from
    count("svc_chat_http_requests", "HTTP requests", ("route", "status"), lambda: tally.http)
    count("svc_chat_live_requests", "Requests on the live socket", ("event", "outcome"), lambda: tally.live)
    outcome = ("outcome",)
    count("svc_chat_webhook_pictures", "Pictures of webhooks' messages", outcome, lambda: tally.pictures)
    count("svc_chat_link_previews", "Links of messages looked at", outcome, lambda: tally.previews)
    count("svc_chat_push_notices", "Notices for devices by Web Push", outcome, lambda: tally.pushes)
    _measure(registry, database)
    return registry


def _measure(registry: Registry, database: Database) -> None:
    registry.info(
        "svc_chat_database",
        "The engine that stores the data",
        {"engine": "sqlite", "version": database.sqlite_version},
    )
    descriptions = {
        "svc_chat_database_writes": "Writes that are durable",
        "svc_chat_database_failed_writes": "Writes that could not be kept",
    }

    def counters() -> Mapping[str, int]:
        statistics = database.statistics
        return dict(zip(descriptions, (statistics.writes, statistics.failed_writes), strict=True))

    registry.counters_from(counters, descriptions)
    registry.histogram_from(
        "svc_chat_database_group_size",
        "Writes that one commit made durable",
        database.group_buckets,
        lambda: (database.statistics.group_sizes, float(database.statistics.writes)),
    )
    registry.histogram_from(
        "svc_chat_database_commit_seconds",
        "Time of one commit with all its writes, until it is on the disk",
        database.commit_buckets,
        lambda: (database.statistics.commit_times, database.statistics.commit_seconds),
    )
