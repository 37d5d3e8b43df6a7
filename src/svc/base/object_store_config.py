"""Reads the operator's choice of object store from variables and opens the store.

The chat server and its media worker read the same variables, and therefore find the same objects. See
docs/configuration.md, "Chat server".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from svc.base.config_parsing import ConfigError, flag, text
from svc.base.object_store import FileObjects, ObjectStore
from svc.base.object_store_s3 import S3Address, S3Objects

S3, FILESYSTEM = "s3", "filesystem"
# The folder under DATA_DIR if S3_BUCKET is unset.
DEFAULT_FOLDER = "uploads-store"


@dataclass(frozen=True, slots=True)
class StorageConfig:
    backend: str  # S3 or FILESYSTEM.
    # The bucket. With the filesystem backend, it is the folder under DATA_DIR that contains uploads.
    s3: S3Address
    disabled: bool

    @property
    def unusable_because(self) -> str:
        """Why uploads are impossible, for the operator, or an empty string if they are possible."""
        if self.disabled:
            return "DISABLE_S3 is set"
        if self.backend == S3 and not self.s3.bucket:
            return "STORAGE_BACKEND is s3 and S3_BUCKET is not set"
        return ""

    @property
    def folder(self) -> str:
        """The folder under DATA_DIR for uploads, even if another backend is in use."""
        return (self.s3.bucket if self.backend == FILESYSTEM else "") or DEFAULT_FOLDER

    def open_store(self, data_dir: Path) -> ObjectStore:
        """Return the object store. Raises ConfigError if its library is missing."""
        if self.backend == S3:
            return S3Objects(self.s3)
        return FileObjects(data_dir / self.folder)


def read(variables: Mapping[str, str]) -> StorageConfig:
    """Read the configuration. Raises ConfigError for invalid values."""
    backend = text(variables, "STORAGE_BACKEND", S3)
    if backend not in (S3, FILESYSTEM):
        raise ConfigError(f"STORAGE_BACKEND must be {S3} or {FILESYSTEM}, not {backend!r}")
    return StorageConfig(
        backend=backend,
        s3=S3Address(
            bucket=_bucket(variables),
            endpoint=http_url(variables, "S3_ENDPOINT"),
            region=text(variables, "S3_REGION"),
            access_key_id=text(variables, "S3_ACCESS_KEY_ID"),
            secret_access_key=text(variables, "S3_SECRET_ACCESS_KEY"),
            force_path_style=flag(variables, "S3_FORCE_PATH_STYLE", False),
        ),
        disabled=flag(variables, "DISABLE_S3", False),
    )


def http_url(variables: Mapping[str, str], name: str) -> str:
    """Return an http(s) URL without a trailing slash, or an empty string if it is unset."""
    value = text(variables, name)
    try:
        parts = urlsplit(value)
        usable = not value or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{name} must be an http:// or https:// address, not {value!r}")
    return value.rstrip("/")


def _bucket(variables: Mapping[str, str]) -> str:
    """Return the bucket's name. It is also used as a folder name, so it must not escape DATA_DIR."""
    bucket = text(variables, "S3_BUCKET")
    if bucket in (".", "..") or any(character in bucket for character in "/\\\0"):
        raise ConfigError(f"S3_BUCKET must be a name without slashes, not {bucket!r}")
    return bucket
