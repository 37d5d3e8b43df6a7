"""Defines the metrics for uploads and stored media. See docs/configuration.md."""

from collections.abc import Callable, Mapping

from svc.base.metrics import Registry
from svc.chat.media.sweep import SweepCounts
from svc.chat.uploads.queue import Queue


def measure(
    registry: Registry,
    queue: Queue,
    sweep: SweepCounts,
    worker_up: Callable[[], bool],
    failed_reads: Mapping[tuple[str, ...], int],
) -> None:
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "svc_chat_upload_jobs_waiting": (
            "Uploads that wait for the media worker or are in its hands",
            lambda: queue.waiting,
        ),
        "svc_chat_upload_jobs_dead": ("Uploads that the media worker has given up", lambda: queue.dead),
        "svc_chat_media_objects": ("Stored objects, as of the last sweep", lambda: sweep.kept_objects),
        "svc_chat_media_bytes": ("Their size", lambda: sweep.kept_bytes),
        "svc_chat_media_worker_up": ("Does a media worker answer, or ask for work?", worker_up),
    }
    for name, (description, value) in gauges.items():
        registry.gauge(name, description).set_function(value)
    registry.labelled_counter_from(
        "svc_chat_upload_outcomes",
        "What became of uploads; failed is tried again",
        ("outcome",),
        lambda: queue.outcomes,
    )
    registry.labelled_counter_from(
        "svc_chat_media_failed_reads",
        "Stored objects that could not be read when requested",
        ("because",),
        lambda: failed_reads,
    )
    descriptions = {
        "svc_chat_media_swept": "Objects removed that nothing referred to",
        "svc_chat_media_sweep_failures": "Objects that the store did not remove; tried again",
    }
    registry.counters_from(
        lambda: dict(zip(descriptions, (sweep.swept, sweep.failed), strict=True)), descriptions
    )
