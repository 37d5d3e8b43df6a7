"""What webhooks say of themselves, for people and for programs that manage them.

What may be posted to one is described in a document of its own (`document`).
"""

from svc.chat.described import Described

DESCRIBED = Described()
