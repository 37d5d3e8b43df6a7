"""Defines all limits for webhook posts, for the checks and for the published description.

Characters are code points. See docs/webhooks.md.
"""

from svc.chat.messages.message import MAX_TEXT_CHARACTERS

MAX_BODY_BYTES = 256 * 1024
# The timeout for receiving a body. The largest body requires 70 kbit/s.
BODY_DEADLINE_S = 30.0

MAX_TEXT = MAX_TEXT_CHARACTERS
MAX_CARDS = 10
MAX_FIELDS = 25
MAX_CARD_TEXTS = 6_000  # The maximum total length of the counted strings in all cards.
MAX_TITLE = 256
MAX_DESCRIPTION = 4_000
MAX_FIELD_VALUE = 1_024
MAX_FOOTER = 2_048
MAX_URL = 2_048
MAX_COLOR = 0xFFFFFF
# Longer names are truncated, not rejected.
MAX_DISPLAY_NAME = 64

MAX_PROBLEMS = 20
# The maximum number of warnings about unknown keys. A body can contain thousands of such keys.
MAX_UNKNOWN_KEYS = 100
# How many characters of an unknown key to quote in a warning.
MAX_SHOWN_KEY = 64

MAX_PICTURE_BYTES = 8 * 1024 * 1024
MAX_ICON_BYTES = 1024 * 1024

BURST = 15
REFILL_MS = 2_000
BLOCK_MS = 60_000
# The webhooks of one creator, and those in one channel, may together send as many bytes as a single webhook
# at its limit. More URLs therefore give nobody a larger share of the server. A small post counts as 8 KiB,
# which allows a burst of 480 small posts, and 16 per second.
SHARED_BURST_BYTES = BURST * MAX_BODY_BYTES
SHARED_BYTES_PER_S = MAX_BODY_BYTES * 1000 / REFILL_MS
MIN_COUNTED_BYTES = 8 * 1024
# The longest time that a received body waits to be parsed. The wait is long only if there are many senders.
WORK_DEADLINE_S = 20.0

# The maximum number of webhooks. All webhooks are in memory, with their rate limits.
MAX_WEBHOOKS = 1_000
MAX_NAME = MAX_DISPLAY_NAME
