"""Runs a minimal DNS server (RFC 1035). Each name has a list of answers, which it returns in order.

It answers A and AAAA queries over UDP, and responds to any other query with an error. It can be silenced.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from struct import pack, unpack_from
from typing import cast

A, AAAA, IN = 1, 28, 1
NO_ERROR, NO_SUCH_NAME = 0, 3
_HEADER_BYTES = 12
# A pointer to the name in the question (RFC 1035 section 4.1.4).
_THE_NAME = b"\xc0\x0c"

# The answers for each name, one per query. The last one repeats.
Answers = Sequence[Sequence[str]]


class NameServer(asyncio.DatagramProtocol):
    def __init__(self, names: Mapping[str, Answers], silent: Sequence[str] = ()) -> None:
        self._names = names
        self._silent = silent
        # The number of queries, by (name, type).
        self.queries: Counter[tuple[str, int]] = Counter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, end = _name(data)
        if name in self._silent:
            return
        (kind,) = unpack_from("!H", data, end)
        question = data[_HEADER_BYTES : end + 4]
        if name not in self._names:
            self._transport.sendto(_answer(data, NO_SUCH_NAME, question, []), addr)
            return
        answers = self._names[name]
        current = answers[min(self.queries[name, kind], len(answers) - 1)]
        self.queries[name, kind] += 1
        fitting = [ip.packed for ip in map(ip_address, current) if kind == (A if ip.version == 4 else AAAA)]
        records = [_THE_NAME + pack("!HHIH", kind, IN, 0, len(data)) + data for data in fitting]
        self._transport.sendto(_answer(data, NO_ERROR, question, records), addr)


@asynccontextmanager
async def name_server(
    names: Mapping[str, Answers], silent: Sequence[str] = (), address: str = "127.0.0.1"
) -> AsyncIterator[NameServer]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: NameServer(names, silent), local_addr=(address, 53)
    )
    try:
        yield server
    finally:
        transport.close()


def _name(query: bytes) -> tuple[str, int]:
    """Return the requested name, and the offset of its end."""
    labels, at = [], _HEADER_BYTES
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
        at += 1 + length
    return ".".join(labels), at + 1


def _answer(query: bytes, code: int, question: bytes, records: Sequence[bytes]) -> bytes:
    # A response with the flags "recursion desired" and "recursion available". It contains only questions and
    # answers.
    header = query[:2] + pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    return header + question + b"".join(records)
