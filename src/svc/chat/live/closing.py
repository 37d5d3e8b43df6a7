"""Why the server ends a live socket: every close code with its reason. `docs/live.md` has the same table.

Closes nothing. RFC 6455 section 7.4.
"""

import enum


class CloseCode(enum.IntEnum):
    """A page that is closed with `SIGNED_OUT` or `TOO_MANY_PAGES` should not come back by itself."""

    GOING_AWAY = 1001  # The server stops; come back in a moment.
    PROTOCOL_ERROR = 1002
    INVALID_TEXT = 1007
    REFUSED = 1008  # Did not sign in; the frame before it says why.
    TOO_BIG = 1009
    SIGNED_OUT = 4001  # The right to be here has ended.
    TOKEN_EXPIRED = 4003  # Sign in with a fresh access token.
    TOO_SLOW = 4008  # Did not read what was pushed; come back and resume.
    TOO_MANY_PAGES = 4009
