"""The STUN messages that the SFU sends, and the timers of one request (RFC 8489).

A thin layer over aioice's message codec. Knows nothing of candidates or pairs, opens no
socket, and reads a stranger's bytes without ever raising: what cannot be read is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from struct import error as StructError

from aioice.stun import Class, Message, Method, parse_message

from svc.sfu.path import Path

ROLE_CONFLICT = 487
# RFC 8489 section 6.2.1: the first wait, doubled at each retransmission.
RTO_S = 0.5
# Rc and Rm of the same section, below their defaults of 7 and 16: a request goes out at
# 0, 0.5, 1.5, 3.5, 7.5 and 15.5 s and is given up at 19.5 s. The default of 39.5 s is
# longer than anybody waits for a call, and retransmissions count as checks.
TRANSMISSIONS = 6
LAST_WAIT_S = 4.0

TransactionId = Callable[[], bytes]


def read_message(data: bytes) -> Message | None:
    """The Binding message in `data`, or None for anything else."""
    try:
        message = parse_message(data)
    except (ValueError, StructError):
        return None
    return message if message.message_method is Method.BINDING else None


def binding_request(transaction_id: bytes) -> Message:
    """A bare Binding request, to be given its attributes."""
    return Message(Method.BINDING, Class.REQUEST, transaction_id)


def success_response(request: Message, path: Path, pwd: str) -> bytes:
    """The authenticated answer to a check that came over `path`."""
    response = Message(Method.BINDING, Class.RESPONSE, request.transaction_id)
    response.attributes["XOR-MAPPED-ADDRESS"] = path.address
    response.add_message_integrity(pwd.encode())
    return bytes(response)


def role_conflict_response(request: Message, pwd: str) -> bytes:
    """The 487 that tells the peer to change its role (RFC 8445 section 7.3.1.1)."""
    response = Message(Method.BINDING, Class.ERROR, request.transaction_id)
    response.attributes["ERROR-CODE"] = (ROLE_CONFLICT, "Role Conflict")
    response.add_message_integrity(pwd.encode())
    return bytes(response)


def same_way_back(sent: Path, received: Path) -> bool:
    """Whether a response that came over `received` answers what went over `sent`.

    RFC 8445 section 7.2.5.2.1 demands symmetry. Where the kernel chose our address, or
    did not tell it, any of ours will do.
    """
    return sent.remote == received.remote and (
        not sent.local or not received.local or sent.local == received.local
    )


@dataclass(slots=True)
class Transmission:
    """When one request is sent, sent again, and given up."""

    data: bytes
    path: Path
    limit: int = TRANSMISSIONS
    last_wait_s: float = LAST_WAIT_S
    sent: int = 0
    due: float = 0.0  # The next transmission, or giving up once there is none left.

    @property
    def spent(self) -> bool:
        """Nothing is left to send: what is due is giving up."""
        return self.sent >= self.limit

    def transmitted(self, now: float) -> None:
        """The request has gone out at `now`."""
        self.sent += 1
        self.due = now + (self.last_wait_s if self.spent else RTO_S * 2 ** (self.sent - 1))

    def silence(self, now: float) -> None:
        """Send no more, but keep listening for an answer."""
        if not self.spent:
            self.limit = self.sent
            self.due = now + self.last_wait_s
