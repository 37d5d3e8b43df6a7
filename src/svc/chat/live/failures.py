"""Who has failed to sign in too often: a bounded count by address.

Counts only failures, so that a thousand members behind one address may come back at once.
Refuses nothing itself.
"""

from collections import OrderedDict

from svc.chat.live.allowance import Allowance

# A page fails once when its token has ended, and then asks for a fresh one.
BURST = 30
PER_S = 0.5
# The least recent is forgotten beyond it.
MAX_ADDRESSES = 4096


class Failures:
    def __init__(self) -> None:
        self._allowances: OrderedDict[str, Allowance] = OrderedDict()

    def count(self, address: str, now: float) -> None:
        allowance = self._allowances.setdefault(address, Allowance(BURST, PER_S, now))
        self._allowances.move_to_end(address)
        allowance.take(now)
        if len(self._allowances) > MAX_ADDRESSES:
            self._allowances.popitem(last=False)

    def too_many(self, address: str, now: float) -> bool:
        allowance = self._allowances.get(address)
        return allowance is not None and allowance.left(now) < 1
