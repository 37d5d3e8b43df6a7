"""Defines the commands that the server and a media worker exchange about jobs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Role = Literal["original", "thumbnail", "poster"]
_Natural = Annotated[int, Meta(ge=0, le=2**53)]
_Fact = Annotated[str, Meta(max_length=256)]


class JobLimits(Struct, frozen=True, omit_defaults=True):
    """The limits of one job. 0 and empty values mean no limit."""

    max_bytes: int = 0
    max_side: int = 0
    deadline_s: float = 0
    # The size limit for files that are stored unchanged. If it is 0, such files are rejected.
    file_bytes: int = 0
    file_extensions: tuple[str, ...] = ()


class ClaimedJob(Struct, frozen=True):
    id: str
    lease: str
    kind: str
    # Whether the job is allowed to be slow. If not, a job that turns out to be slow is passed to another
    # worker.
    long: bool
    # The path of the file, relative to the data folder.
    source: str
    attempt: int
    limits: JobLimits


class JobClaim(Struct, frozen=True):
    job: ClaimedJob | None


class JobSignalSeen(Struct, frozen=True):
    seen: int


class ReservedKey(Struct, frozen=True):
    key: str


class WrittenFile(Struct, frozen=True):
    """A file that the worker has written: the media, its thumbnail or its poster."""

    role: Role
    key: Annotated[str, Meta(min_length=1, max_length=128)]
    content_type: Annotated[str, Meta(min_length=1, max_length=64)]
    bytes: _Natural
    width: _Natural | None = None
    height: _Natural | None = None
    frames: _Natural | None = None
    duration_ms: _Natural | None = None
    placeholder: _Fact = ""
    colour: _Fact = ""

    def stored(self) -> dict[str, object]:
        """Return the file's description in its stored form."""
        return {
            "key": self.key,
            "content_type": self.content_type,
            "bytes": self.bytes,
            "width": self.width,
            "height": self.height,
        }
