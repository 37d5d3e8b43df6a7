"""Response types for bots."""

from svc.chat.members import responses
from svc.chat.schemas import Id, Response, TimeMs


class Bot(Response):
    """A bot as its managers see it."""

    member: responses.Member
    # False after an import, for example. The bot then needs a new token.
    has_token: bool
    token_made_by: Id | None
    token_made_at_ms: TimeMs | None
