"""The attacks by name, in the order of the table. Cheap to import, because the command line reads the
names.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from svc.tools.bench.attack import bodies, insiders, strangers
from svc.tools.bench.attack.load import Load
from svc.tools.bench.attack.target import Target
from svc.tools.bench.errors import BenchError


@dataclass(frozen=True, slots=True)
class Attack:
    name: str
    run: Callable[[Load], Coroutine[None, None, None]]
    needs: str = ""  # a field or property of Target that the attack requires

    @property
    def what(self) -> str:
        return (self.run.__doc__ or "").strip()

    def possible(self, target: Target) -> bool:
        return not self.needs or bool(getattr(target, self.needs))


ATTACKS = (
    Attack("charsets", strangers.charsets),
    Attack("inflation", strangers.inflation),
    Attack("idle", strangers.idle_connections),
    Attack("handshakes", strangers.handshakes, needs="tls"),
    Attack("unsigned", strangers.unsigned_sockets),
    Attack("malformed", strangers.malformed),
    Attack("sign-ins", strangers.sign_ins),
    Attack("webhook-flood", strangers.webhook_flood, needs="webhook"),
    Attack("expensive-bodies", bodies.expensive_bodies, needs="expensive"),
    Attack("webhook-guessing", strangers.webhook_guessing),
    Attack("search", insiders.search, needs="tokens"),
    Attack("posting", insiders.posting, needs="tokens"),
    Attack("reading", insiders.reading, needs="tokens"),
    Attack("reservations", insiders.reservations, needs="tokens"),
    Attack("slow-readers", insiders.slow_readers, needs="tokens"),
    Attack("sfu", strangers.sfu),
    Attack("management", strangers.management, needs="management"),
    Attack("control", insiders.control, needs="folder"),
)


def named(names: list[str]) -> list[Attack]:
    """Return the attacks with these names, or all without names. Raises BenchError."""
    known = {attack.name: attack for attack in ATTACKS}
    if unknown := [name for name in names if name not in known]:
        raise BenchError(f"There is no attack {', '.join(unknown)}. There are: {', '.join(known)}")
    return [known[name] for name in names] or list(ATTACKS)
