"""Reads the worker's configuration from the chat server's variables, so that both programs use the same
files.

See docs/configuration.md, "Media worker".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from svc.base import object_store_config
from svc.base.config_parsing import clamped_integer, text
from svc.base.object_store_config import StorageConfig, http_url

# Used if IMAGE_WORKER_URL contains no port.
DEFAULT_PORT = 5010


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    data_dir: Path
    storage: StorageConfig
    # From IMAGE_WORKER_URL, where the chat server expects the worker.
    port: int
    emoji_at_once: int
    emoji_poll_s: float


def read(variables: Mapping[str, str]) -> WorkerConfig:
    """Read the configuration. Raises ConfigError for invalid values."""
    return WorkerConfig(
        data_dir=Path(text(variables, "DATA_DIR", "./data")),
        storage=object_store_config.read(variables),
        port=urlsplit(http_url(variables, "IMAGE_WORKER_URL")).port or DEFAULT_PORT,
        emoji_at_once=clamped_integer(variables, "EMOJI_QUEUE_CONCURRENCY", 1, 1, 4),
        emoji_poll_s=clamped_integer(variables, "EMOJI_QUEUE_POLL_MS", 750, 250, 5000) / 1000,
    )
