"""Reports of private messages: what a recipient reveals is filed only if it is proved.

Of everything else that was said in the conversation the server learns nothing. No HTTP, no SQL.
"""

from collections.abc import Awaitable, Callable

from svc.chat.direct import franking
from svc.chat.direct.franking import Proof, Sending
from svc.chat.direct.rules import PrivateConversations
from svc.chat.errors import ChatError
from svc.chat.moderation.report import Revealed

# Files a report: who reports, whom, why, what is revealed, and now. Resolves with the id of the report.
File = Callable[[str, str, str, Revealed, float], Awaitable[str]]


class PrivateReports:
    def __init__(self, conversations: PrivateConversations, key: bytes, file: File) -> None:
        self._conversations = conversations
        self._key = key
        self._file = file

    async def report(self, reporter_id: str, sending: Sending, proof: Proof, why: str, now: float) -> str:
        """The id of the report. Raises ChatError."""
        self._conversations.require_member(reporter_id, sending.conversation_id)
        try:
            text, files = franking.parts(proof.said)
            proved = franking.is_proved(self._key, proof, sending)
        except ValueError as fault:
            raise ChatError("invalid_request", f"This is nothing that a message says: {fault}") from None
        if not proved:
            raise ChatError("not_proved")
        revealed = Revealed(sending.conversation_id, sending.sent_at_ms, text, files)
        return await self._file(reporter_id, sending.member_id, why, revealed, now)
