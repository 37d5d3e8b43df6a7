"""Reads the file with the code that `svc up` prints. `founding_code` writes the file.

This is a separate module, because `svc up` keeps running and should not load the rest of the chat server.
"""

from pathlib import Path

from svc.base.config_parsing import ConfigError

FILE_NAME = "invite-code"
# The separator between the founding code and the invite.
BETWEEN = "."


def shown_code(data_dir: Path) -> str:
    """Return the code to print once the server has started. Raises ConfigError."""
    try:
        return (data_dir / FILE_NAME).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{data_dir / FILE_NAME} cannot be read: {fault}") from None
