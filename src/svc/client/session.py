"""Implements the live protocol without a socket: processes received frames, and returns the frames to send
and each event exactly once.

A session outlives its connections. `begin` starts a new connection, which resumes at the last event of the
previous one. docs/live.md describes the frames.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc.client.requests import Refused

Data = Mapping[str, Any]
_SIGN_IN = 1


@dataclass(frozen=True, slots=True)
class SendFrame:
    """A frame to send on the socket."""

    text: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The bot has signed in without resuming a session. `state` is the complete state that the member can
    see. Events received before it are ignored.
    """

    state: Data


@dataclass(frozen=True, slots=True)
class Resumed:
    """The session has been resumed. The missed events follow. `state` has the values for which there are no
    events.
    """

    state: Data


@dataclass(frozen=True, slots=True)
class PushedEvent:
    event: str
    data: Data


Received = SignedIn | Resumed | PushedEvent


class Session:
    """Signs in with `token` on every connection."""

    def __init__(self, token: str) -> None:
        self._token = token
        # The number of the last event. None before the first sign-in.
        self._seq: int | None = None
        self.signed_in = False

    @property
    def handshake(self) -> dict[str, str]:
        """The header that contains the token. The server serves connections with a token before anonymous
        connections.
        """
        return {"Authorization": f"Bearer {self._token}"}

    def begin(self) -> None:
        """Reset for a new connection."""
        self.signed_in = False

    def process(self, text: str) -> SendFrame | Received | None:
        """Process a frame. Raises Refused if the sign-in is rejected, or ValueError if a frame is invalid."""
        frame = json.loads(text)
        if not isinstance(frame, dict):
            raise ValueError("a frame is a JSON object")
        event, data = frame.get("event"), frame.get("data")
        if not isinstance(event, str) or not isinstance(data, dict):
            raise ValueError("a frame has an event and data")
        # After a takeover, `authenticated` has no id: another process now serves the bot, and sends the
        # complete state.
        if not self.signed_in or (event == "authenticated" and "id" not in frame):
            return self._before(event, data)
        # Replies have an id. Actions use HTTP, so no reply on this socket is for the bot.
        if event == "error" or "id" in frame or not self._is_new(frame.get("seq")):
            return None
        return PushedEvent(event, data)

    def _before(self, event: str, data: Data) -> SendFrame | Received | None:
        match event:
            case "hello":
                return SendFrame(self._first())
            case "authenticated":
                seq = data.get("seq")
                if not isinstance(seq, int):
                    raise ValueError("authenticated without seq")
                self._seq, self.signed_in = seq, True
                return SignedIn(data)
            case "resumed":
                # Keep the stored seq, because the reply's seq is larger than the seq of each event that
                # follows.
                self.signed_in = True
                return Resumed(data)
            case "error":
                wait_ms = data.get("retry_after_ms")
                raise Refused(
                    str(data.get("error")),
                    str(data.get("message", "")),
                    retry_after_s=wait_ms / 1000 if isinstance(wait_ms, int) else None,
                )
        return None

    def _first(self) -> str:
        data: dict[str, object] = {"access_token": self._token}
        if self._seq is None:
            return json.dumps({"event": "authenticate", "id": _SIGN_IN, "data": data})
        return json.dumps({"event": "resume", "id": _SIGN_IN, "data": {**data, "seq": self._seq}})

    def _is_new(self, seq: object) -> bool:
        """Return whether an event is new. Events with a number may arrive twice after a lost connection."""
        if not isinstance(seq, int):
            return True
        if self._seq is not None and seq <= self._seq:
            return False
        self._seq = seq
        return True
