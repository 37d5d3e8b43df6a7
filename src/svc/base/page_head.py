"""Reads the title, description, site and image from the head of an untrusted web page.

Runs only in the sandbox (`svc.base.sandbox`), because some inputs make Python's own parser slow. Reads Open
Graph (https://ogp.me), Twitter's equivalents, and plain HTML. Runs no script, loads nothing, and does not
decide whether the result may be shown.
"""

import codecs
import os
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

from svc.base.sandbox_protocol import Outcome, Progress

# The maximum size of a head. The heads of large sites have about 100 KB of scripts before their metadata.
MAX_BYTES = 512 * 1024
# The maximum length of one value. Callers shorten it for display.
MAX_CHARACTERS = 4096
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_CHARSET_WITHIN_BYTES = 4096
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encoding labels as browsers interpret them (https://encoding.spec.whatwg.org), for the encodings that pages
# still use.
_CHARSETS: Mapping[str, str] = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252"), "cp1252"),
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    **dict.fromkeys(("iso-8859-9", "windows-1254"), "cp1254"),
    **dict.fromkeys(("koi8-r", "koi8-u"), "koi8-u"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis"), "cp932"),
    "euc-jp": "euc-jp",
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), "gb18030"),
    "big5": "big5hkscs",
}
# The metadata names that can supply each value, in order of preference.
NAMES: Mapping[str, Sequence[str]] = {
    "title": ("og:title", "twitter:title", "title"),
    "description": ("og:description", "twitter:description", "description"),
    "image": ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"),
}


def prepare() -> None:
    """Load everything that would otherwise be loaded on first use."""
    for name in {*_CHARSETS.values(), "utf-16"}:
        codecs.lookup(name)
    _Head().feed("<title>a &amp; b</title><meta name=a content=b>")


def read(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    """Return the values found in the page, under the names above."""
    data = os.pread(files[0], MAX_BYTES, 0)
    head = _Head()
    try:
        head.feed(_text(data, str(arguments.get("charset") or "")))
        head.close()
    except _EndOfHead:
        pass
    values = {
        name: next((head.values[key] for key in keys if head.values.get(key)), "")
        for name, keys in NAMES.items()
    }
    return {name: value for name, value in values.items() if value}, []


class _EndOfHead(Exception):
    """Raised to stop parsing at the end of the head."""


class _Head(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.values: dict[str, str] = {}
        self._title: list[str] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            raise _EndOfHead
        if tag == "title" and "title" not in self.values:
            self._title = []
        if tag == "meta":
            # Browsers use the first of two attributes with the same name.
            by_name = {name: value or "" for name, value in reversed(attributes)}
            name = (by_name.get("property") or by_name.get("name") or "").strip().lower()
            # The plain title comes from the title element, not from a meta tag.
            if name not in ("", "title") and by_name.get("content", "").strip():
                self.values.setdefault(name, by_name["content"][:MAX_CHARACTERS])

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title is not None:
            self.values.setdefault("title", "".join(self._title)[:MAX_CHARACTERS])
            self._title = None
        if tag == "head":
            raise _EndOfHead


def _text(data: bytes, charset: str) -> str:
    """Decode a page according to its byte order mark, the charset in the response's header, or the charset
    declared in the page. Otherwise decode it as UTF-8 or Windows-1252.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) if name == "utf-8" else 0 :].decode(name, "replace")
    declaration = _CHARSET.search(data[:_CHARSET_WITHIN_BYTES])
    for name in (charset, declaration[1].decode("ascii") if declaration else ""):
        if (known := _CHARSETS.get(name.lower())) is not None:
            return data.decode(known, "replace")
    try:
        # The last character may be truncated.
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
