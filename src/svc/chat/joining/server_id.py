"""What this server is called in sign-ins that are made for it: SERVER_ID, or a name made up once.

An assertion for one server is then worth nothing at another.
"""

import uuid
from pathlib import Path

from svc.base.private_files import kept


def kept_server_id(configured: str, data_dir: Path) -> str:
    """The configured id; else one of our own, kept in the data folder."""
    return configured or kept(data_dir / "server-id", lambda: f"{uuid.uuid4()}\n").strip()
