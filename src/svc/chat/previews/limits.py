"""The numbers of link previews, each with its reason."""

from svc.chat.messages.links import MAX_LINKS as MAX_LINKS

MAX_TITLE = 256
MAX_DESCRIPTION = 500
MAX_SITE = 128
MAX_URL = 2_048
# From look-up to last byte. Who reads does not wait for it; after that a preview moves what is being read.
PAGE_DEADLINE_S = 8.0
# Of the sandbox's child that reads a head; some 10 ms are usual, and hostile pages make the parser slow.
PARSE_DEADLINE_S = 2.0
PARSE_MEMORY_BYTES = 64 * 1024 * 1024
# Two for a single member, and one is left.
PARSING_PLACES = 3
# Messages whose links are being looked at; beyond it a message has no previews.
MAX_AT_ONCE = 32
# A member's messages with links: so many at once, and one in so many seconds in the long run.
BURST, PER_S = 10, 0.2
MAX_MEMBERS = 10_000
# What many post is fetched once; what fails is tried again sooner.
MAX_CACHED = 1_000
CACHED_S, FAILED_S = 3600.0, 300.0
