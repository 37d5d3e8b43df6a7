"""Dispatches events to methods. The type of a method's parameter determines the event and validates its
payload.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, get_type_hints

from svc.base.signalling_codec import Envelope, EnvelopeError, Payload, read

Handler = TypeVar("Handler", bound=Callable[..., None])


def handles(method: Handler) -> Handler:
    """Mark a method of `EventHandlers` as the handler of its parameter's event."""
    (kind,) = (hint for name, hint in get_type_hints(method).items() if name != "return")
    method.handles = kind  # type: ignore[attr-defined]
    return method


class EventHandlers:
    """The base class of objects that handle a connection's events."""

    handlers: ClassVar[Mapping[str, tuple[type[Payload], Callable[[Any, Any], None]]]] = {}

    def __init_subclass__(cls) -> None:
        methods = [value for value in vars(cls).values() if hasattr(value, "handles")]
        cls.handlers = {method.handles.event: (method.handles, method) for method in methods}

    def handle(self, envelope: Envelope) -> None:
        """Validate an event and run its handler. Raises EnvelopeError."""
        if (declared := self.handlers.get(envelope.event)) is None:
            raise EnvelopeError(f"Unknown event {envelope.event[:64]!r}")
        kind, method = declared
        method(self, read(envelope, kind))
