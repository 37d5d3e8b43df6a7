"""How the server is found and looked after, as the operator has set it.

Reads variables and checks them; opens nothing. docs/http.md, "The management listener" and
docs/configuration.md, "Chat server".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.base.config import port, text


@dataclass(frozen=True, slots=True)
class OperatingConfig:
    # The name or an address of the one to advertise on; empty for all.
    mdns_interface: str
    instance_id: str
    # What clients are told; empty for that of this program.
    version: str
    # Without a token nothing listens.
    admin_token: str = field(repr=False)
    admin_port: int
    runtime_mode: str


def read(variables: Mapping[str, str]) -> OperatingConfig:
    """Raises ConfigError for what cannot be used."""
    return OperatingConfig(
        mdns_interface=text(variables, "MDNS_INTERFACE"),
        instance_id=text(variables, "SERVER_INSTANCE_ID"),
        version=text(variables, "SERVER_VERSION"),
        admin_token=text(variables, "SVC_ADMIN_TOKEN"),
        admin_port=port(variables, "SVC_ADMIN_PORT", 5099),
        runtime_mode=text(variables, "NODE_ENV"),
    )
