"""The file with the code that `svc up` prints. `founding_code` writes the file, and decides what it holds.

This is a separate module because `svc up`, which stays in memory, needs nothing else of the chat server.
"""

from pathlib import Path

from svc.base.config import ConfigError

FILE_NAME = "invite-code"
# Between the founding code and the invite.
BETWEEN = "."


def shown_code(data_dir: Path) -> str:
    """Return the code to print for a started server. Raises ConfigError."""
    try:
        return (data_dir / FILE_NAME).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{data_dir / FILE_NAME} cannot be read: {fault}") from None
