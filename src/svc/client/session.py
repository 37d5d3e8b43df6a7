"""The live socket's protocol, without a socket: what to say, and what was heard, each push once.

Text goes in; out comes what to say next or what has been heard. A session outlives its connections: `begin` a
new one, and it signs in where the last one was lost. docs/live.md says what the frames mean.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc.client.requests import Refused

Data = Mapping[str, Any]
_SIGN_IN = 1


@dataclass(frozen=True, slots=True)
class Say:
    """To be sent on the socket."""

    text: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """`state` is everything, as a member sees it: pushes from before are not told any more."""

    state: Data


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was pushed meanwhile follows; `state` is what no push tells of."""

    state: Data


@dataclass(frozen=True, slots=True)
class Pushed:
    event: str
    data: Data


Heard = SignedIn | Resumed | Pushed


class Session:
    """Signs in with `token` on every connection."""

    def __init__(self, token: str) -> None:
        self._token = token
        # The number of the last push that was heard; None before the first sign-in.
        self._seq: int | None = None
        self.signed_in = False

    @property
    def handshake(self) -> dict[str, str]:
        """The token for the headers too: whoever shows one does not wait behind strangers."""
        return {"Authorization": f"Bearer {self._token}"}

    def begin(self) -> None:
        """A connection is new."""
        self.signed_in = False

    def received(self, text: str) -> Say | Heard | None:
        """Take a frame. Raises Refused where the sign-in was, and ValueError for what is no frame."""
        frame = json.loads(text)
        if not isinstance(frame, dict):
            raise ValueError("a frame is a JSON object")
        event, data = frame.get("event"), frame.get("data")
        if not isinstance(event, str) or not isinstance(data, dict):
            raise ValueError("a frame has an event and data")
        if not self.signed_in:
            return self._before(event, data)
        # A reply to a request is none of ours: actions go over HTTP.
        if event == "error" or "id" in frame or not self._is_new(frame.get("seq")):
            return None
        return Pushed(event, data)

    def _before(self, event: str, data: Data) -> Say | Heard | None:
        match event:
            case "hello":
                return Say(self._first())
            case "authenticated":
                seq = data.get("seq")
                if not isinstance(seq, int):
                    raise ValueError("authenticated without seq")
                self._seq, self.signed_in = seq, True
                return SignedIn(data)
            case "resumed":
                # Its seq is larger than those of the pushes that follow, so ours stays.
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
        """Pushes without a number come once. The others may come again after a connection was lost."""
        if not isinstance(seq, int):
            return True
        if self._seq is not None and seq <= self._seq:
            return False
        self._seq = seq
        return True
