"""Builds and reads the SFU's STUN messages, and times the retransmissions of one request (RFC 8489).

A thin layer over aioice's message codec. Does not deal with candidates or pairs, and does not open sockets.
Never raises for untrusted bytes: unreadable messages become None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from struct import error as StructError

from svc.sfu.network_path import Path
from svc.sfu.stun_codec import Class, Message, Method, parse_message

ROLE_CONFLICT = 487
# The delay before the first retransmission. The delay doubles each time (RFC 8489 section 6.2.1).
RTO_S = 0.5
# Rc and Rm from the same section, below their defaults of 7 and 16. A request is sent at 0, 0.5, 1.5, 3.5,
# 7.5 and 15.5 s and abandoned at 19.5 s. Nobody would wait the default 39.5 s for a call to connect, and
# retransmissions count as checks.
TRANSMISSIONS = 6
LAST_WAIT_S = 4.0

TransactionId = Callable[[], bytes]


def read_message(data: bytes) -> Message | None:
    """Return the Binding message in `data`, or None if there is none."""
    try:
        message = parse_message(data)
    except (ValueError, StructError):
        return None
    return message if message.message_method is Method.BINDING else None


def binding_request(transaction_id: bytes) -> Message:
    """Return a Binding request without attributes. The caller adds them."""
    return Message(Method.BINDING, Class.REQUEST, transaction_id)


def success_response(request: Message, path: Path, pwd: str) -> bytes:
    """Return the authenticated response to a check that came over `path`."""
    response = Message(Method.BINDING, Class.RESPONSE, request.transaction_id)
    response.attributes["XOR-MAPPED-ADDRESS"] = path.address
    response.add_message_integrity(pwd.encode())
    return bytes(response)


def role_conflict_response(request: Message, pwd: str) -> bytes:
    """Return the error response (487) that makes the peer change its role (RFC 8445 section 7.3.1.1)."""
    response = Message(Method.BINDING, Class.ERROR, request.transaction_id)
    response.attributes["ERROR-CODE"] = (ROLE_CONFLICT, "Role Conflict")
    response.add_message_integrity(pwd.encode())
    return bytes(response)


def same_way_back(sent: Path, received: Path) -> bool:
    """Return whether a response received over `received` matches a request sent over `sent`.

    RFC 8445 section 7.2.5.2.1 requires symmetry. If the kernel chose our address or did not report it, any of
    our addresses matches.
    """
    return sent.remote == received.remote and (
        not sent.local or not received.local or sent.local == received.local
    )


@dataclass(slots=True)
class Transmission:
    """The times at which one request is sent, retransmitted and abandoned."""

    data: bytes
    path: Path
    limit: int = TRANSMISSIONS
    last_wait_s: float = LAST_WAIT_S
    sent: int = 0
    due: float = 0.0  # The time of the next transmission, or of the timeout after the last transmission.

    @property
    def spent(self) -> bool:
        """Whether all transmissions have been made. The next deadline is then the request's timeout."""
        return self.sent >= self.limit

    def transmitted(self, now: float) -> None:
        """Record that the request was sent at `now`."""
        self.sent += 1
        self.due = now + (self.last_wait_s if self.spent else RTO_S * 2 ** (self.sent - 1))

    def silence(self, now: float) -> None:
        """Stop sending, but keep waiting for a response."""
        if not self.spent:
            self.limit = self.sent
            self.due = now + self.last_wait_s
