"""Generates the secrets of `svc up` once per installation, and stores them in the data folder.

Invite codes are stored by the chat server.
"""

import json
import secrets
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from svc.base.config_parsing import ConfigError
from svc.base.private_files import read_or_create


@dataclass(frozen=True, slots=True)
class Secrets:
    jwt_secret: str
    server_id: str
    server_password: str


def read_or_create_secrets(data_dir: Path) -> Secrets:
    """Read the secrets, or generate them on first use. Raises ConfigError for an unusable file."""
    path = data_dir / "secrets.json"
    try:
        return Secrets(**json.loads(read_or_create(path, _new_secrets)))
    except (ValueError, TypeError):
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it") from None


def _new_secrets() -> str:
    made = Secrets(
        jwt_secret=secrets.token_urlsafe(48),
        server_id=str(uuid.uuid4()),
        server_password=secrets.token_urlsafe(32),
    )
    return json.dumps(asdict(made), indent=2) + "\n"
