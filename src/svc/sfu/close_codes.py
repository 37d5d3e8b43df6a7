"""The WebSocket close codes of the media service.

Codes below 4000 are from RFC 6455 (section 7.4.1), the others are our own. The code that closes the
connection chooses the reason text.
"""

from enum import IntEnum


class CloseCode(IntEnum):
    GOING_AWAY = 1001  # The service is shutting down.
    PROTOCOL_ERROR = 1002  # Not the WebSocket protocol, such as an unmasked frame.
    INVALID_TEXT = 1007  # A message that is not UTF-8.
    POLICY = 1008  # A wrong first message, or a peer that reads too slowly.
    TOO_BIG = 1009  # A message above the limit.
    FAULT = 1011  # An internal error.
    SILENT = 4000  # No answer to our pings.
    REPLACED = 4001  # The same user has joined again.
    NO_ANSWER = 4002  # An offer was not answered in time.
    REFUSED = 4003  # The join was refused; the room_error before it says why.
    DISCONNECTED = 4004  # The chat server removed this user.
    MEDIA_FAILED = 4005  # No encrypted media connection could be made, or the client closed it.
    REJOIN = 4006  # Another process serves this port from now on: rejoin immediately.
    OUTDATED = 4007  # A chat server of a newer epoch owns the community.
