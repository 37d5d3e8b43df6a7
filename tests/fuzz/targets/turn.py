"""`svc doctor` gets its relayed address, is refused, or gives up, no matter how a TURN server responds."""

from collections.abc import Coroutine
from contextlib import suppress

from aioice.stun import Message, Method

from svc.tools.doctor.turn import Refused, _Allocation, _read
from tests.fuzz.program import Program

IN_PYTHON = True
MAX_PIECE_BYTES = 65535 + 20  # the header identifies the stream as TCP


def run(data: bytes) -> None:
    allocation = _Allocation(Server(Program(data)), "1795656903:ada", "a password")
    outcome(allocation.ask(Method.ALLOCATE, {"REQUESTED-TRANSPORT": 17 << 24}))
    for family in ("203.0.113.1", "2001:db8::1"):
        outcome(allocation.ask(Method.CREATE_PERMISSION, {"XOR-PEER-ADDRESS": (family, 0)}))


def outcome(request: Coroutine[None, None, Message]) -> None:
    """Run a request to completion in one step. This works because nothing that it awaits takes time."""
    with suppress(StopIteration, Refused, OSError):
        request.send(None)


class Server:
    """A TURN server that responds with pieces of the input, and closes the connection at the end of the
    input."""

    def __init__(self, program: Program) -> None:
        self._program = program

    async def exchange(self, message: Message) -> Message:
        bytes(message)  # encodes the request, as a real connection does
        while self._program.left:
            answer = self._program.piece(MAX_PIECE_BYTES)
            # make it a response to this request, because others are ignored
            answer = answer[:8] + message.transaction_id + answer[20:] if len(answer) > 20 else answer
            if (code := _read(answer, message)) is not None:
                return code
        raise ConnectionResetError

    async def close(self) -> None:
        pass
