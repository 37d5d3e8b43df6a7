"""Manages the founding code, and the file from which the operator gets it.

The first member must know the founding code and becomes the owner. After that, the code is invalid. The file
in DATA_DIR contains the code that `svc up` prints, and only the user that runs the server can read it. Until
there is a server owner, the file contains `<founding code>.<invite>`, so the same link works for the owner
and the first guests. After that, it contains only the standing invite. Other modules validate invites.
"""

import logging
import secrets
from pathlib import Path

from svc.base.config_parsing import ConfigError
from svc.base.database import Connection
from svc.base.grants import same_secret
from svc.base.private_files import read_or_create, replace_text
from svc.chat.access.permissions import MEMBER, OWNER
from svc.chat.authentication.invite_file import BETWEEN, FILE_NAME
from svc.chat.authentication.join_policy import Admission, Applicant
from svc.chat.authentication.one_time_codes import new_code
from svc.chat.errors import ChatError

logger = logging.getLogger(__name__)


class FoundingCode:
    """The code that admits the founder. It works once. Call `load` first."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE_NAME
        self._invite = ""
        # Empty once there is an owner.
        self._code = ""

    def load(self, invite: str, founded: bool) -> None:
        """Load the code at startup.

        `invite` is the standing invite. `founded` means that there is an owner. Raises ConfigError.
        """
        self._invite = invite
        made = new_code(secrets.choice)
        code, both, _ = read_or_create(self._path, lambda: f"{made}{BETWEEN}\n").strip().partition(BETWEEN)
        # Earlier versions used a single code for the founder and for guests. A single code in the file is an
        # invite.
        self._code = "" if founded else code if both else made
        self._show()

    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        if not applicant.invite_code:
            raise ChatError("invite_required")
        if not self.founds(applicant.invite_code):
            raise ChatError("invite_invalid")
        return Admission((MEMBER, OWNER), self._founded)

    def founds(self, code: str) -> bool:
        """Return whether this code, with or without an appended invite, makes its user the owner."""
        return bool(self._code) and same_secret(code.partition(BETWEEN)[0], self._code)

    def _founded(self) -> None:
        self._code = ""
        try:
            self._show()
        except ConfigError as fault:
            # The code is now invalid even if the file cannot be rewritten. The next start rewrites it.
            logger.error("the founding code is still in its file", extra={"fault": str(fault)})

    def _show(self) -> None:
        replace_text(self._path, f"{self._code}{BETWEEN if self._code else ''}{self._invite}\n")
