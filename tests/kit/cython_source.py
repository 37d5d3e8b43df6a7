"""Reads Cython source as logical lines, without comments and with all strings emptied.

It finds imports, functions and C headers. It is not a full parser and does not understand types or
expressions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Match triple quotes first, because a single quote inside them does not start a string.
_STRING_OR_COMMENT = re.compile(
    r'''("""|\'\'\')(?:\\.|.)*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*''', re.DOTALL
)
_DOCSTRING = re.compile(r'\A(?:\s|#[^\n]*\n)*"""((?:\\.|.)*?)"""', re.DOTALL)
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)', re.MULTILINE)
_EXTERN = re.compile(r'^[ \t]*cdef[ \t]+extern[ \t]+from[ \t]+["<\']+([^">\'*\n]+)', re.MULTILINE)
_FUNCTION = re.compile(r"(?:async\s+def|def|cdef|cpdef)\b(?!\s+class)[^=]*?\b(\w+)\s*\(.*:\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    first: int  # the line number in the file, counted from 1
    last: int
    indent: int
    text: str


def docstring(source: str) -> str | None:
    """Return the text of the module's docstring, or None if the module does not open with one."""
    match = _DOCSTRING.match(source)
    return match[1] if match else None


def headers(source: str) -> list[str]:
    """Return the C headers that the file includes, in extern blocks or in verbatim C."""
    return _EXTERN.findall(source) + _INCLUDE.findall(source)


def logical_lines(source: str) -> Iterator[LogicalLine]:
    """Yield each statement as a single line, even if it continues over several lines. Skip blank lines."""
    lines = _STRING_OR_COMMENT.sub(_emptied, source).split("\n")
    number = 0
    while number < len(lines):
        first, text = number, lines[number]
        while number + 1 < len(lines) and (_open_brackets(text) or text.endswith("\\")):
            number += 1
            text = text.removesuffix("\\") + "\n" + lines[number]
        if text.strip():
            yield LogicalLine(first + 1, number + 1, len(text) - len(text.lstrip()), text.strip())
        number += 1


def functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the first line and the length in lines of each function."""
    lines = list(logical_lines(source))
    for index, line in enumerate(lines):
        match = _FUNCTION.match(line.text)
        if match is None:
            continue
        last = line.last
        for following in lines[index + 1 :]:
            if following.indent <= line.indent:
                break
            last = following.last
        yield match[1], line.first, last - line.first + 1


def _emptied(match: re.Match[str]) -> str:
    return ("" if match[0].startswith("#") else '""') + "\n" * match[0].count("\n")


def _open_brackets(text: str) -> bool:
    return sum(text.count(bracket) for bracket in "([{") > sum(text.count(bracket) for bracket in ")]}")
