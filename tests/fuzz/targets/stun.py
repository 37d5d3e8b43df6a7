"""Both parsers either return a STUN message or reject the input. Only requests with credentials get a
response.
"""

import hmac
import zlib

from svc._rtp.stun import answer_request
from svc.sfu.stun import read_message

IN_PYTHON = False
PASSWORD = b"a password of a session"
SOURCE = (bytes(10) + b"\xff\xff" + bytes([198, 51, 100, 7]), 40000)


def run(data: bytes) -> None:
    read_message(data)
    assert answer_request(data, PASSWORD, SOURCE) is None, "an HMAC cannot be guessed"
    check = authenticated(data)
    read_message(check)
    answered = answer_request(check, PASSWORD, SOURCE)
    if answered is not None:
        response = read_message(answered[1])
        assert response is not None and response.transaction_id == check[8:20]


def authenticated(attributes: bytes) -> bytes:
    """Return a binding request with the given attributes, authenticated with this server's password."""
    body = attributes[:1400] + bytes(-len(attributes[:1400]) % 4)
    head = b"\x21\x12\xa4\x42" + b"transaction."
    text = head + body
    mac = hmac.digest(PASSWORD, b"\x00\x01" + (len(body) + 24).to_bytes(2, "big") + text, "sha1")
    message = b"\x00\x01" + (len(body) + 32).to_bytes(2, "big") + text + b"\x00\x08\x00\x14" + mac
    return message + b"\x80\x28\x00\x04" + (zlib.crc32(message) ^ 0x5354554E).to_bytes(4, "big")
