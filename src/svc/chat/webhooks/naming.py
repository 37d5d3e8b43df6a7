"""The name under which a message of a webhook appears. Pure.

Whatever was sent is shown in one line and cut, never refused. docs/http.md, "Webhooks" and docs/webhooks.md,
"A message".
"""

import unicodedata

from svc.chat.webhooks.limits import MAX_DISPLAY_NAME
from svc.chat.webhooks.values import is_blank

# These turn the text around them, also that of others.
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A body can hold a quarter of a million, for 64 that are shown.
_MOST_READ = 1_000


def shown_name(wanted: str | None, name: str) -> str:
    """What a sender wants to be called, as far as that can be seen; else the webhook's own name."""
    if wanted is None:
        return name
    visible = "".join(_visible(character) for character in wanted[:_MOST_READ])
    cut = " ".join(visible.split())[:MAX_DISPLAY_NAME].rstrip()
    return name if is_blank(cut) else cut


def _visible(character: str) -> str:
    if character in _DIRECTION_CONTROLS:
        return ""
    return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
