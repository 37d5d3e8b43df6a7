"""What somebody with an invite may see before they join: is it valid, and how many people are there?

Wrong codes are counted as at the door, but by address: nobody has proven a key yet. They have an allowance of
their own, so that looking does not use up the tries of joining. docs/configuration.md, "Chat server".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from svc.chat.access.directory import Directory
from svc.chat.errors import ChatError
from svc.chat.fields import Natural, TimeMs
from svc.chat.invites.guard import InviteConfig, InviteGuard
from svc.chat.invites.rules import Invites


@dataclass(frozen=True, slots=True)
class InviteView:
    """`founder`: whoever has the code becomes the owner."""

    founder: bool
    members: Natural
    online: Natural
    approval: bool
    expires_at_ms: TimeMs | None


class InviteViews:
    """`founds`: does this code make its bearer the owner? `online`: ids of members who are there.

    `steady` gives the seconds of a clock that nobody sets.
    """

    def __init__(
        self,
        invites: Invites,
        directory: Directory,
        config: InviteConfig,
        founds: Callable[[str], bool],
        online: Callable[[], Iterable[str]],
        steady: Callable[[], float],
    ) -> None:
        self._invites = invites
        self._directory = directory
        self._guard = InviteGuard(config)
        self._founds = founds
        self._online = online
        self._steady = steady

    async def view(self, code: str, address: str, now: float) -> InviteView:
        """Raises ChatError for a code that is not valid, and for an address that has tried too many."""
        self._guard.check(address, address, self._steady())
        founder = self._founds(code)
        # Until there is an owner the link holds the founding code too; from then on it is an invite.
        found = await self._invites.valid(code.rpartition(".")[2], now)
        if found is None and not founder:
            self._guard.failed(address, address, self._steady())
            raise ChatError("invite_invalid")
        members = self._directory.members
        return InviteView(
            founder=founder,
            members=len(members),
            online=sum(1 for member_id in self._online() if member_id in members),
            approval=found is not None and not founder and found.approval,
            expires_at_ms=None if found is None or founder else found.expires_at_ms,
        )
