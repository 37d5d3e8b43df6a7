"""Reads the configuration for uploads: storage, size limits, processing and sweeping."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from svc.base import object_store_config
from svc.base.config_parsing import ConfigError, clamped_integer, items, number
from svc.base.object_store_config import StorageConfig, http_url

_DAY_MS = 24 * 60 * 60 * 1000
_MAX_ICON_MB = 1024
# The highest permitted file size limit: a quarter of a member's storage limit.
MAX_FILE_MB = 1024
_EXTENSION = re.compile(r"[a-z0-9_+-]{1,16}")


@dataclass(frozen=True, slots=True)
class UploadsConfig:
    storage: StorageConfig
    # The URL at which the media worker reports its health, or empty.
    worker_url: str
    # Whether a request to the worker's URL starts the worker.
    worker_on_demand: bool
    icon_max_mb: int
    # The maximum size of files that are stored unprocessed (0 rejects all), and their permitted extensions
    # (an empty list permits all).
    file_max_mb: int
    file_extensions: tuple[str, ...]
    sweep_interval_ms: int
    sweep_grace_ms: int
    emoji_concurrency: int
    emoji_poll_ms: int


def read(variables: Mapping[str, str]) -> UploadsConfig:
    """Read the configuration. Raises ConfigError for an invalid value."""
    return UploadsConfig(
        storage=object_store_config.read(variables),
        worker_url=http_url(variables, "IMAGE_WORKER_URL"),
        worker_on_demand=False,
        icon_max_mb=_icon_max_mb(variables),
        file_max_mb=number(variables, "SVC_FILE_MAX_MB", 100, maximum=MAX_FILE_MB),
        file_extensions=_file_extensions(variables),
        sweep_interval_ms=number(variables, "MEDIA_SWEEP_INTERVAL_MS", 600_000, minimum=1, maximum=_DAY_MS),
        sweep_grace_ms=number(variables, "MEDIA_SWEEP_GRACE_MS", 1_800_000, maximum=30 * _DAY_MS),
        emoji_concurrency=clamped_integer(variables, "EMOJI_QUEUE_CONCURRENCY", 1, 1, 4),
        emoji_poll_ms=clamped_integer(variables, "EMOJI_QUEUE_POLL_MS", 750, 250, 5000),
    )


def _icon_max_mb(variables: Mapping[str, str]) -> int:
    """Return the maximum icon size in MB. The variable's old name is used if the new one is not set."""
    older = number(variables, "SERVER_ICON_MAX_MB", 25, minimum=1, maximum=_MAX_ICON_MB)
    return number(variables, "SVC_SERVER_ICON_MAX_MB", older, minimum=1, maximum=_MAX_ICON_MB)


def _file_extensions(variables: Mapping[str, str]) -> tuple[str, ...]:
    listed = tuple(item.lower().removeprefix(".") for item in items(variables, "SVC_FILE_EXTENSIONS"))
    for ending in listed:
        if not _EXTENSION.fullmatch(ending):
            raise ConfigError(
                f"SVC_FILE_EXTENSIONS must list file extensions such as pdf,zip,mp3, not {ending!r}"
            )
    return listed
