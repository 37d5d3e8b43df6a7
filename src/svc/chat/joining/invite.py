"""The installation's invite code, in a file of its own in DATA_DIR that only its owner may read.

Whoever joins with it before anybody else is the owner. Makes the code when there is none
yet; does not judge what people send.
"""

import secrets
from pathlib import Path

from svc.base.private_files import kept
from svc.chat.joining.codes import new_code


def invite_code(data_dir: Path) -> str:
    """The code, made on first use."""
    return kept(data_dir / "invite-code", lambda: new_code(secrets.choice) + "\n").strip()
