"""What rules find in one message: where, and whether it is enough. Keeps what was posted lately, to tell
what is repeated; knows nothing of who may do what. Reads no clock.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from svc.chat.automod.matching import Positions
from svc.chat.automod.rule import MOST_REPEATS, WITHIN_S, Phrases, Rule
from svc.chat.messages.markdown import named, trimmed
from svc.chat.messages.profanity import Folded, Span, covered

# Who has posted least lately is forgotten first.
MAX_AUTHORS = 10_000
_ADDRESS = r"[^\s<>\"|`\\]"
_LINK = re.compile(
    rf"https?://{_ADDRESS}++|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{{1,20}}+://{_ADDRESS}++|(?<![\w.@-])www\.{_ADDRESS}++"
    # Without a scheme: `example.org/there`.
    rf"|(?<![\w.@/:-])(?:[\w-]{{1,63}}+\.){{1,8}}+[a-z]{{2,24}}+(?::\d{{1,5}}+)?+/{_ADDRESS}*+",
    re.IGNORECASE,
)
_MENTION = re.compile(r"\[[^\[\]]{0,200}\]\(\s{0,8}<?(?:mention|role):[^\s()]{1,140}\s{0,8}\)")


@dataclass(frozen=True)
class Said:
    """A message that somebody is about to post, or to change into."""

    author_id: str
    channel_id: str
    text: str
    # Not of one that is changed: it repeats itself.
    new: bool = True

    @cached_property
    def folded(self) -> Folded:
        return Folded.of(self.text)

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.folded.text)

    @cached_property
    def essence(self) -> int:
        """The same for texts that differ in spaces, capitals and disguises only."""
        return hash("".join(filter(str.isalnum, self.folded.text)) or self.text.strip())

    @property
    def whole(self) -> list[Span]:
        return [match.span() for match in re.finditer(r"\S+", self.text)]


class Recent:
    """What each member has posted lately, as numbers that stand for texts."""

    def __init__(self) -> None:
        self._by_author: OrderedDict[str, deque[tuple[float, int]]] = OrderedDict()

    def posted(self, said: Said, now: float) -> None:
        texts = self._by_author.setdefault(said.author_id, deque(maxlen=4 * MOST_REPEATS))
        texts.append((now, said.essence))
        self._by_author.move_to_end(said.author_id)
        while len(self._by_author) > MAX_AUTHORS:
            self._by_author.popitem(last=False)

    def times(self, said: Said, within_s: int, now: float) -> int:
        """How often the same was said."""
        texts = self._by_author.get(said.author_id, ())
        return sum(essence == said.essence and now - at < within_s for at, essence in texts)

    def prune(self, now: float) -> None:
        """Forget whoever has said nothing for as long as any rule looks back."""
        while self._by_author:
            author_id, texts = next(iter(self._by_author.items()))
            if now - texts[-1][0] < WITHIN_S:
                return
            del self._by_author[author_id]


class Finder:
    """One rule, made ready."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._phrases = Phrases(rule.words)

    @property
    def steps(self) -> int:
        return self._phrases.steps

    def find(self, said: Said, recent: Recent, now: float) -> list[Span] | None:
        """What it objects to, which may be a text without characters; None for nothing."""
        rule, text = self.rule, said.text
        match rule.kind:
            case "words":
                return self._phrases.spans(said.folded, lambda: said.positions) or None
            case "links":
                return [span for link, span in links(text) if not _leads_to(link, rule.allowed)] or None
            case "mentions":
                return self._mentions(said)
            case "repeats":
                again = said.new and text.strip() and recent.times(said, rule.within_s, now) >= rule.most
                return said.whole if again else None
            case "newcomers":
                # Whose messages are looked at, others say.
                return said.whole

    def _mentions(self, said: Said) -> list[Span] | None:
        most = self.rule.most
        if _mentioned(said.text) <= most:
            return None
        beyond = [match.span() for match in _MENTION.finditer(said.text)][most:]
        return beyond if beyond and _mentioned(covered(said.text, beyond)) <= most else said.whole


def links(text: str) -> list[tuple[str, Span]]:
    """Also those in code, and those that say nothing of a scheme but have a path."""
    found = []
    for match in _LINK.finditer(text):
        link = trimmed(match[0])
        found.append((link, (match.start(), match.start() + len(link))))
    return found


def _leads_to(link: str, domains: Sequence[str]) -> bool:
    """As a browser reads it, as far as it is safe to say; when in doubt, it leads elsewhere."""
    try:
        host = urlsplit(link if "://" in link else f"https://{link}").hostname or ""
    except ValueError:
        return False
    host = host.rstrip(".")
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _mentioned(text: str) -> int:
    found = named(text)
    return len(found.members) + len(found.groups)
