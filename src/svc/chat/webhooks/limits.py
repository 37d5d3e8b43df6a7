"""All limits for the webhook interface, which the checks and the published description use.

Character counts are counts of code points. See docs/webhooks.md.
"""

from svc.chat.messages.message import MAX_TEXT_CHARACTERS

MAX_BODY_BYTES = 256 * 1024
# The timeout for receiving a body. Sending the largest body within this time takes 70 kbit/s.
BODY_DEADLINE_S = 30.0

MAX_TEXT = MAX_TEXT_CHARACTERS
MAX_CARDS = 10
MAX_FIELDS = 25
MAX_CARD_TEXTS = 6_000  # The limit for all counted texts of all cards of a message.
MAX_TITLE = 256
MAX_DESCRIPTION = 4_000
MAX_FIELD_VALUE = 1_024
MAX_FOOTER = 2_048
MAX_URL = 2_048
MAX_COLOR = 0xFFFFFF
# Longer names are truncated, not refused.
MAX_DISPLAY_NAME = 64

MAX_PROBLEMS = 20
# A body of unknown keys can hold thousands of them, and each one gets a warning.
MAX_UNKNOWN_KEYS = 100
# The number of characters of a sender's key that are repeated in a warning.
MAX_SHOWN_KEY = 64

MAX_PICTURE_BYTES = 8 * 1024 * 1024
MAX_ICON_BYTES = 1024 * 1024

BURST = 15
REFILL_MS = 2_000
BLOCK_MS = 60_000
# All webhooks of one maker together, and all webhooks of one channel together, may send as many bytes as one
# webhook at its own limit. More URLs therefore give no larger share of the server. Small posts count as 8 KiB
# each, which allows 480 of them at once and 16 per second.
SHARED_BURST_BYTES = BURST * MAX_BODY_BYTES
SHARED_BYTES_PER_S = MAX_BODY_BYTES * 1000 / REFILL_MS
LEAST_COUNTED_BYTES = 8 * 1024
# The longest time that a received body waits for its turn to be parsed. Only a crowd of senders makes the
# wait long.
WORK_DEADLINE_S = 20.0

# The maximum number of webhooks. Each webhook is held in memory, with its counter.
MAX_WEBHOOKS = 1_000
MAX_NAME = MAX_DISPLAY_NAME
