"""Variables of features that this server does not have yet: read, checked and kept for them.

None has an effect before its feature exists; a value that cannot be used is refused today.
Spec: chat document sections 8.2 and 8.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from svc.base.config import ConfigError, flag, number, text

MLS_RETENTION_DAYS = 30
S3, FILESYSTEM = "s3", "filesystem"
_DAY_MS = 24 * 60 * 60 * 1000
_MAX_ICON_MB = 1024
# No value is so large that it must not be clamped.
_ANY = 10**17


@dataclass(frozen=True, slots=True)
class S3Config:
    endpoint: str
    # With the filesystem backend the folder under DATA_DIR that holds uploads.
    bucket: str
    region: str
    access_key_id: str
    secret_access_key: str = field(repr=False)
    force_path_style: bool


@dataclass(frozen=True, slots=True)
class UploadsConfig:
    backend: str  # S3 or FILESYSTEM
    s3: S3Config
    disabled: bool
    worker_url: str
    icon_max_mb: int
    sweep_interval_ms: int
    sweep_grace_ms: int
    emoji_concurrency: int
    emoji_poll_ms: int


def read_uploads(variables: Mapping[str, str]) -> UploadsConfig:
    """Raises ConfigError for what cannot be used."""
    backend = text(variables, "STORAGE_BACKEND", S3)
    if backend not in (S3, FILESYSTEM):
        raise ConfigError(f"STORAGE_BACKEND must be {S3} or {FILESYSTEM}, not {backend!r}")
    return UploadsConfig(
        backend=backend,
        s3=S3Config(
            endpoint=_http_url(variables, "S3_ENDPOINT"),
            bucket=_bucket(variables),
            region=text(variables, "S3_REGION"),
            access_key_id=text(variables, "S3_ACCESS_KEY_ID"),
            secret_access_key=text(variables, "S3_SECRET_ACCESS_KEY"),
            force_path_style=flag(variables, "S3_FORCE_PATH_STYLE", False),
        ),
        disabled=flag(variables, "DISABLE_S3", False),
        worker_url=_http_url(variables, "IMAGE_WORKER_URL"),
        icon_max_mb=_icon_max_mb(variables),
        sweep_interval_ms=number(variables, "MEDIA_SWEEP_INTERVAL_MS", 600_000, minimum=1, maximum=_DAY_MS),
        sweep_grace_ms=number(variables, "MEDIA_SWEEP_GRACE_MS", 1_800_000, maximum=30 * _DAY_MS),
        emoji_concurrency=_clamped(variables, "EMOJI_QUEUE_CONCURRENCY", 1, 1, 4),
        emoji_poll_ms=_clamped(variables, "EMOJI_QUEUE_POLL_MS", 750, 250, 5000),
    )


def mls_retention_days(variables: Mapping[str, str]) -> int:
    """It can only shorten: what is longer, or no whole number of days, gives the usual time."""
    value = text(variables, "MLS_RETENTION_DAYS")
    if value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MLS_RETENTION_DAYS and len(value) <= 6:
        return int(value)
    return MLS_RETENTION_DAYS


def _icon_max_mb(variables: Mapping[str, str]) -> int:
    """The old name counts where the new one is not set."""
    older = number(variables, "SERVER_ICON_MAX_MB", 25, minimum=1, maximum=_MAX_ICON_MB)
    return number(variables, "SVC_SERVER_ICON_MAX_MB", older, minimum=1, maximum=_MAX_ICON_MB)


def _clamped(variables: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    return max(low, min(high, number(variables, name, default, minimum=-_ANY, maximum=_ANY)))


def _bucket(variables: Mapping[str, str]) -> str:
    """Also the name of a folder: nothing that leads out of DATA_DIR."""
    bucket = text(variables, "S3_BUCKET")
    if bucket in (".", "..") or any(character in bucket for character in "/\\\0"):
        raise ConfigError(f"S3_BUCKET must be a name without slashes, not {bucket!r}")
    return bucket


def _http_url(variables: Mapping[str, str], name: str) -> str:
    value = text(variables, name)
    try:
        parts = urlsplit(value)
        usable = not value or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{name} must be an http:// or https:// address, not {value!r}")
    return value.rstrip("/")
