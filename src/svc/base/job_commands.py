"""The server's responses to the job commands of a media worker, which both programs import."""

from msgspec import Struct


class JobLimits(Struct, frozen=True, omit_defaults=True):
    """The limits of one job. 0 and empty stand for no limit."""

    max_bytes: int = 0
    max_side: int = 0
    deadline_s: float = 0
    # For files that are stored unchanged. With 0 they are refused.
    file_bytes: int = 0
    file_extensions: tuple[str, ...] = ()


class ClaimedJob(Struct, frozen=True):
    id: str
    lease: str
    kind: str
    # Whether the job may take long. Other jobs that do are handed on.
    long: bool
    # The path of the file, below the data folder.
    source: str
    attempt: int
    limits: JobLimits


class JobClaim(Struct, frozen=True):
    job: ClaimedJob | None


class JobSignalSeen(Struct, frozen=True):
    seen: int


class ReservedKey(Struct, frozen=True):
    key: str
