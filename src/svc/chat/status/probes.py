"""How requests reach this server, for an operator who asks: what proxies made of a marked one.

A request to `/health?probe=…` is remembered, the last few only; `svc doctor` sends one from
outside and asks over the control socket what became of it. Says nothing to anybody else.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

MOST_KEPT = 16
_LEAST_CHARACTERS, _MOST_CHARACTERS = 16, 64


@dataclass(frozen=True, slots=True)
class Arrival:
    """`address` is who we take the client for; `forwarded_for` what the header of that name says."""

    host: str
    peer: str
    forwarded_for: Sequence[str]
    address: str
    secure: bool

    def described(self) -> Mapping[str, object]:
        return asdict(self)


class Probes:
    def __init__(self) -> None:
        self._arrivals: OrderedDict[str, Arrival] = OrderedDict()

    def arrived(self, mark: str, arrival: Arrival) -> None:
        """Remember a request, if it has a mark that nobody else would think of."""
        if not (_LEAST_CHARACTERS <= len(mark) <= _MOST_CHARACTERS and mark.isascii() and mark.isalnum()):
            return
        self._arrivals[mark] = arrival
        if len(self._arrivals) > MOST_KEPT:
            self._arrivals.popitem(last=False)

    def take(self, mark: str) -> Arrival | None:
        return self._arrivals.pop(mark, None)
