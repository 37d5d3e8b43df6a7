"""Defines the channel properties that managers can set, each as a single field.

The property's database column, export column, request and response fields, OpenAPI description, `svc admin
channel` flag and label key all derive from its field. `channels/rules` checks that properties are compatible.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, cast

from msgspec import Meta, Struct, defstruct

S = TypeVar("S", bound=Struct)

# The longest slow-mode interval. Members would not wait longer than this.
MAX_SLOW_MODE_S = 6 * 60 * 60
# The highest participant limit, more than any media service accepts in one room.
MAX_USER_LIMIT = 1000
# Opus's range (RFC 6716 section 2.1.1).
MIN_BITRATE_KBPS, MAX_BITRATE_KBPS = 6, 510


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelProperties:
    topic: Annotated[str, Meta(max_length=1024, description="Purpose of the channel, in one line")] = ""
    slow_mode_s: Annotated[
        int, Meta(ge=0, le=MAX_SLOW_MODE_S, description="Time between two messages of one member; 0 for none")
    ] = 0
    user_limit: Annotated[
        int, Meta(ge=0, le=MAX_USER_LIMIT, description="People in a voice channel; 0 means no limit")
    ] = 0
    bitrate_kbps: Annotated[
        int,
        Meta(
            ge=0,
            le=MAX_BITRATE_KBPS,
            description="Bitrate of each microphone in a voice channel; 0 means no limit",
        ),
    ] = 0
    encrypted: Annotated[
        bool, Meta(description="Encrypt the calls of a voice channel end to end (docs/private.md)")
    ] = False


def with_properties(form: Callable[[Any, object], tuple[Any, ...]]) -> Callable[[type[S]], type[S]]:
    """Return a decorator that adds the properties to a Struct. `form` returns a field's type, and its default
    if it has one, from the property's type and default.
    """

    def extend(cls: type[S]) -> type[S]:
        added = [(field.name, *form(field.type, field.default)) for field in fields(ChannelProperties)]
        names = {"__doc__": cls.__doc__, "__qualname__": cls.__qualname__}
        made = defstruct(cls.__name__, added, bases=(cls,), module=cls.__module__, namespace=names)
        return cast(type[S], made)

    return extend
