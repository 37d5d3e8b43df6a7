"""Signs the statements that link a person's accounts on two servers, as a client does."""

import hashlib
from dataclasses import dataclass

from tests.kit.device import Device, base64url


@dataclass
class Account:
    """An account on a server. The server need not exist."""

    origin: str
    id: str
    device: Device


def statement(by: Account, about: Account, **changes: object) -> str:
    """Sign the statement that both accounts belong to the same person."""
    claims = {
        "use": "same_person",
        "iss": by.origin,
        "sub": by.id,
        "aud": about.origin,
        "peer": about.id,
        "peer_key": about.device.thumbprint,
        "made_at_ms": 1,
    }
    return by.device.sign(claims | changes, {"jwk": by.device.jwk})


def pair(own: Account, other: Account) -> dict[str, str]:
    """Return the request body that shows the link on the profile of this server's account."""
    return {"own": statement(own, other), "other": statement(other, own)}


def elsewhere(origin: str = "https://garden.example") -> Account:
    """Return an account with a new key on a server that is not running."""
    return Account(origin, "ada-of-the-garden", Device())


def digest_of(text: str) -> str:
    return base64url(hashlib.sha256(text.encode()).digest())
