"""Reads the markup in a page module: the literal parts of its html`…` templates, and its strings.

The parser knows just enough JavaScript to distinguish templates, strings, comments and regular expressions.
"""

import re
from dataclasses import dataclass, field

HOLE = "\0"  # The placeholder for an inserted value.
_TAG = re.compile(r"<[^>]*>")
_REGEX_MAY_FOLLOW = re.compile(r"(?:[(,=:\[!&|?{};]|\breturn)\s*$")


@dataclass(slots=True)
class Module:
    code: str
    templates: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._read(0, inner=False)

    def texts(self) -> list[str]:
        """Return the text between the tags."""
        return [
            text for template in self.templates for text in re.split(f"[\n{HOLE}]", _TAG.sub(HOLE, template))
        ]

    def attributes(self) -> list[tuple[str, str]]:
        """Return the names and values of attributes that have no inserted value."""
        tags = [tag for template in self.templates for tag in _TAG.findall(template)]
        return [name for tag in tags for name in re.findall(r'([\w-]+)="([^"]*)"', tag)]

    def _read(self, at: int, *, inner: bool) -> int:
        """Read code up to its end, or up to the brace that closes the interpolation."""
        depth = 0
        while at < len(self.code):
            sign = self.code[at]
            if sign in "\"'":
                end = self._past(at + 1, sign)
                self.strings.append(self.code[at + 1 : end - 1])
                at = end
            elif sign == "`":
                at = self._template(at + 1, is_markup=self.code.endswith("html", 0, at))
            elif self.code.startswith("//", at):
                at = self.code.find("\n", at)
            elif self.code.startswith("/*", at):
                at = self.code.find("*/", at) + 2
            elif sign == "/" and _REGEX_MAY_FOLLOW.search(self.code[max(0, at - 20) : at]):
                at = self._past_regex(at + 1)
            elif sign == "}" and inner and not depth:
                return at
            else:
                depth += {"{": 1, "}": -1}.get(sign, 0)
                at += 1
        return at

    def _template(self, at: int, *, is_markup: bool) -> int:
        text = ""
        while (sign := self.code[at]) != "`":
            if self.code.startswith("${", at):
                text += HOLE
                at = self._read(at + 2, inner=True) + 1
            else:
                size = 2 if sign == "\\" else 1
                text += self.code[at : at + size]
                at += size
        if is_markup:
            self.templates.append(text)
        return at + 1

    def _past(self, at: int, end: str) -> int:
        while self.code[at] != end:
            at += 2 if self.code[at] == "\\" else 1
        return at + 1

    def _past_regex(self, at: int) -> int:
        in_class = False
        while (sign := self.code[at]) != "/" or in_class:
            in_class = {"[": True, "]": False}.get(sign, in_class)
            at += 2 if sign == "\\" else 1
        return at + 1
