"""What is measured of the chat server; documented in docs/configuration.md."""

from collections.abc import Callable, Sized
from typing import Protocol

from svc.base.metrics import Registry


class Link(Protocol):
    """The connection to the media service."""

    @property
    def in_step(self) -> bool: ...


def measurements(pages: Sized, signalling: Sized, link: Link) -> Registry:
    registry = Registry()
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "svc_chat_live_connections_active": ("Pages signed in on the live socket", lambda: len(pages)),
        "svc_chat_signalling_connections_active": (
            "Participants passed through to the media service",
            lambda: len(signalling),
        ),
        "svc_chat_sfu_link_up": ("Is the media service connected and in step?", lambda: link.in_step),
    }
    for name, (description, value) in gauges.items():
        registry.gauge(name, description).set_function(value)
    return registry
