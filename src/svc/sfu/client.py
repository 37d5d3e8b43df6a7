"""Defines the interface through which a session uses its participant's connection. Contains no code."""

from typing import Protocol

from svc.base.signalling_codec import Payload
from svc.sfu.close_codes import CloseCode


class Client(Protocol):
    """The participant's connection. No method blocks. A message that cannot be sent closes the connection."""

    def push(self, payload: Payload) -> None: ...
    def send_error(self, reason: str) -> None: ...
    def close(self, code: CloseCode, reason: str) -> None: ...
    # Handle the resumption of the session by another connection of the same client.
    def superseded(self) -> None: ...
    def wake_at(self, deadline: float) -> None: ...
