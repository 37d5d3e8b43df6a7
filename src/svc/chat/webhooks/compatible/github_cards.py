"""What every card made of a GitHub event has: whose repository, who did it, and its colour.

Knows no event.
"""

from svc.chat.webhooks.compatible.draft import CardDraft, cut
from svc.chat.webhooks.compatible.reading import Node

NEW = SUCCESS = 0x2DA44E
GONE = FAILURE = 0xCF222E
MERGED = 0x8250DF
WAITING = 0xBF8700
NEUTRAL = 0x57606A

# Enough to see what it is about; the title leads to the rest.
MAX_BODY_CHARACTERS = 600
SHORT_SHA = 7


def card(event: Node, what: str, *, url: str = "", text: str = "", color: int = NEUTRAL) -> CardDraft:
    """`what` goes behind the name of the repository."""
    sender = event.child("sender")
    repository = event.child("repository")
    place = repository.text("full_name") or event.child("organization").text("login")
    return CardDraft(
        title=f"[{place}] {what}" if place else what,
        url=url or repository.text("html_url"),
        description=text,
        color=color,
        author=sender.text("login"),
        author_url=sender.text("html_url"),
        author_icon=sender.text("avatar_url"),
    )


def body_of(written: Node) -> str:
    """The beginning of what somebody wrote, Markdown there and here, without the hidden parts."""
    head, *rest = written.text("body").split("<!--")
    shown = head + "".join(hidden.partition("-->")[2] for hidden in rest)
    return cut(shown.strip(), MAX_BODY_CHARACTERS)


def first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def numbered(thing: Node) -> str:
    """An issue, a pull request or a discussion: `#12 Its title`."""
    return f"#{thing.text('number')} {thing.text('title')}".strip()
