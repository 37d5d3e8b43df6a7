"""Lists the attacks by name, in the order of the report's table. The command line reads the names, so
importing this module must be cheap.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from svc.tools.bench.attack import anonymous_attacks, expensive_bodies, member_attacks
from svc.tools.bench.attack.load import Load
from svc.tools.bench.attack.target import Target
from svc.tools.bench.errors import BenchError


@dataclass(frozen=True, slots=True)
class Attack:
    name: str
    run: Callable[[Load], Coroutine[None, None, None]]
    needs: str = ""  # the field or property of Target that the attack requires

    @property
    def what(self) -> str:
        return (self.run.__doc__ or "").strip()

    def possible(self, target: Target) -> bool:
        return not self.needs or bool(getattr(target, self.needs))


ATTACKS = (
    Attack("charsets", anonymous_attacks.charsets),
    Attack("inflation", anonymous_attacks.inflation),
    Attack("idle", anonymous_attacks.idle_connections),
    Attack("handshakes", anonymous_attacks.handshakes, needs="tls"),
    Attack("unsigned", anonymous_attacks.unsigned_sockets),
    Attack("malformed", anonymous_attacks.malformed),
    Attack("sign-ins", anonymous_attacks.sign_ins),
    Attack("webhook-flood", anonymous_attacks.webhook_flood, needs="webhook"),
    Attack("expensive-bodies", expensive_bodies.expensive_bodies, needs="expensive"),
    Attack("webhook-guessing", anonymous_attacks.webhook_guessing),
    Attack("search", member_attacks.search, needs="tokens"),
    Attack("posting", member_attacks.posting, needs="tokens"),
    Attack("reading", member_attacks.reading, needs="tokens"),
    Attack("reservations", member_attacks.reservations, needs="tokens"),
    Attack("slow-readers", member_attacks.slow_readers, needs="tokens"),
    Attack("sfu", anonymous_attacks.sfu),
    Attack("management", anonymous_attacks.management, needs="management"),
    Attack("control", member_attacks.control, needs="folder"),
)


def attacks_named(names: list[str]) -> list[Attack]:
    """Return the attacks with these names, or all attacks if there are no names. Raises BenchError."""
    known = {attack.name: attack for attack in ATTACKS}
    if unknown := [name for name in names if name not in known]:
        raise BenchError(f"There is no attack {', '.join(unknown)}. There are: {', '.join(known)}")
    return [known[name] for name in names] or list(ATTACKS)
