"""Markdown written from other services' texts: what is to be read as it stands is escaped.

Parses no Markdown but its code spans, which nobody's rules reach into. CommonMark 0.31 sections 2.4, 6.1.
"""

import re
from collections.abc import Callable

# What could begin something; an underscore within a word begins nothing.
_SPECIAL = re.compile(r"[\\`*\[\]~]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")
CODE = r"```(?:.+?)```|`[^`\n]+`"
_CODE = re.compile(f"({CODE})", re.DOTALL)
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\\": "%5C"})


def escaped(text: str) -> str:
    """One line that is shown as it is written."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def link(label: str, url: str) -> str:
    """A link with a plain label; the label alone where there is no address."""
    if not url.startswith(("http://", "https://")):
        return escaped(label)
    return f"[{escaped(label) or 'link'}]({''.join(url.split()).translate(_IN_ADDRESS)})"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with what is no code in it changed."""
    pieces = _CODE.split(text)
    return "".join(piece if index % 2 else change(piece) for index, piece in enumerate(pieces))
