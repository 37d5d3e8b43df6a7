"""Defines the WebSocket close codes of the media service.

Codes below 4000 are from RFC 6455 (section 7.4.1). The others are defined by this service. The function that
closes a connection also supplies the reason.
"""

from enum import IntEnum


class CloseCode(IntEnum):
    GOING_AWAY = 1001  # The service is shutting down.
    PROTOCOL_ERROR = 1002  # A violation of the WebSocket protocol, such as an unmasked frame.
    INVALID_TEXT = 1007  # A message is not valid UTF-8.
    POLICY = 1008  # The first message is invalid, or the peer reads too slowly.
    TOO_BIG = 1009  # A message exceeds the size limit.
    FAULT = 1011  # An internal error.
    SILENT = 4000  # The peer does not answer our pings.
    REPLACED = 4001  # The same user has joined again.
    NO_ANSWER = 4002  # An offer was not answered before its timeout.
    REFUSED = 4003  # The join was rejected. The preceding room_error gives the reason.
    DISCONNECTED = 4004  # The chat server removed this user.
    MEDIA_FAILED = 4005  # The encrypted media connection could not be established, or the client closed it.
    REJOIN = 4006  # Another process now serves this port, so the client should rejoin immediately.
    OUTDATED = 4007  # A chat server with a newer epoch owns the community.
