"""One object of a payload, read key by key; what nobody asked for is unknown.

Puts what is wrong into the findings and goes on, so that all of it is found at once. `null` is as
good as absent. Knows no key by name.
"""

from collections.abc import Iterator, Mapping

from svc.chat.webhooks.limits import MAX_URL
from svc.chat.webhooks.problems import Findings, inside
from svc.chat.webhooks.values import color_of, is_blank, is_clean, is_url, moment_of

_NOTHING: Mapping[str, object] = {}


class Reader:
    """Whoever reads an object asks for each key once, and says `done` behind the last."""

    __slots__ = ("_asked", "_given", "findings", "is_object", "path")

    def __init__(self, findings: Findings, path: str, value: object) -> None:
        self.findings = findings
        self.path = path
        self.is_object = isinstance(value, dict)
        self._given: Mapping[str, object] = value if isinstance(value, dict) else _NOTHING
        self._asked: set[str] = set()
        if not self.is_object:
            findings.problem(path, "wrong_type", words="Must be an object")

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def holds(self, name: str) -> bool:
        """As `has`, but an empty list holds nothing."""
        return self._given.get(name) not in (None, [])

    def at(self, name: str) -> str:
        return inside(self.path, name)

    def text(self, name: str, most: int, *, needed: bool = False) -> str | None:
        """A string that says something, in at most so many characters; these are counted."""
        text = self.any_text(name)
        if text is None:
            if needed and self.is_object and not self.has(name):
                self._problem(name, "required")
            return None
        self.findings.characters += len(text)
        if len(text) > most:
            self._problem(name, "too_long", most)
        elif is_blank(text):
            self._problem(name, "required")
        else:
            return text
        return None

    def any_text(self, name: str) -> str | None:
        """A string of any length, also an empty one."""
        value = self._value(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self._problem(name, "wrong_type", words="Must be a string")
            return None
        if not is_clean(value):
            self._problem(name, "invalid_format")
            return None
        return value

    def url(self, name: str) -> str | None:
        url = self.any_text(name)
        if url is None:
            return None
        if len(url) > MAX_URL:
            self._problem(name, "too_long", MAX_URL)
        elif not is_url(url):
            self._problem(name, "invalid_url")
        else:
            return url
        return None

    def moment(self, name: str) -> str | None:
        text = self.any_text(name)
        moment = None if text is None else moment_of(text)
        if text is not None and moment is None:
            self._problem(name, "invalid_timestamp")
        return moment

    def color(self, name: str) -> int | None:
        value = self._value(name)
        color = None if value is None else color_of(value)
        if value is not None and color is None:
            self._problem(name, "invalid_color")
        return color

    def flag(self, name: str) -> bool:
        value = self._value(name)
        if value is not None and not isinstance(value, bool):
            self._problem(name, "wrong_type", words="Must be true or false")
        return value is True

    def inner(self, name: str) -> "Reader | None":
        """An object within this one."""
        value = self._value(name)
        return None if value is None else Reader(self.findings, self.at(name), value)

    def each(self, name: str, most: int) -> Iterator["Reader"]:
        """The objects of a list; what is beyond the limit is not looked at."""
        value = self._value(name)
        if value is None:
            return
        if not isinstance(value, list):
            self._problem(name, "wrong_type", words="Must be a list")
            return
        if len(value) > most:
            self._problem(name, "too_many", most)
        for index, item in enumerate(value[:most]):
            yield Reader(self.findings, f"{self.at(name)}[{index}]", item)

    def done(self) -> None:
        """Warn of what was not asked for."""
        if len(self._asked) == len(self._given):
            return
        for key in self._given:
            if key not in self._asked:
                self.findings.unknown_key(self.path, key)

    def _value(self, name: str) -> object:
        if name not in self._given:
            return None
        self._asked.add(name)
        return self._given[name]

    def _problem(self, name: str, code: str, limit: int | None = None, words: str = "") -> None:
        self.findings.problem(self.at(name), code, limit, words)
