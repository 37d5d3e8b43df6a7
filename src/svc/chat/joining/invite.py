"""The invite code, in a file of its own in DATA_DIR that only its owner may read.

Makes the code when there is none yet; does not judge what people send.
"""

import secrets
from pathlib import Path

from svc.base.private_files import kept

# 16 letters of 31: 79 bits, which nobody tries out, and none that look alike.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 16


def invite_code(data_dir: Path) -> str:
    """The code, made on first use."""
    return kept(data_dir / "invite-code", _new_code).strip()


def _new_code() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)) + "\n"
