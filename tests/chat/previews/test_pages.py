"""The sandbox extracts the titles and descriptions of web pages as plain text."""

import pytest

from svc.base.page_head import MAX_BYTES
from svc.base.sandbox import Sandbox
from svc.chat.outbound_http.fetcher import FetchedFile
from svc.chat.previews.link_previews import (
    MAX_DESCRIPTION,
    MAX_TITLE,
    PageSummary,
    head_sandbox,
    is_page,
    page_summary,
    plain,
)

URL = "https://www.example.org/a/page"


async def shown(html: str | bytes, charset: str = "") -> PageSummary | None:
    data = html.encode() if isinstance(html, str) else html
    async with head_sandbox() as sandbox:
        return await page_summary(FetchedFile(data, URL, "text/html", charset), sandbox)


@pytest.mark.parametrize(
    ("html", "short"),
    [
        ("<title>Tea &amp; cake</title>", PageSummary("Tea & cake")),
        (
            '<head><meta property="og:title" content="Tea"><title>x</title>'
            '<meta name="description" content="plain"><meta property="og:description" content="Green">'
            '<meta property="og:site_name" content="Tea house"><meta property="og:image" content="/tea.png">',
            PageSummary("Tea", "Green", "https://www.example.org/tea.png"),
        ),
        (
            "<meta name=twitter:title content=Tea><meta name='twitter:image' content='//cdn.example/t.png'>",
            PageSummary("Tea", image="https://cdn.example/t.png"),
        ),
        ("<title>a</title><title>b</title>", PageSummary("a")),
        ("<head></head><title>b</title>", None),
        ("<body><title>b</title>", None),
        ('<meta property="og:site_name" content="only">', None),
        ("nothing of the kind", None),
        ("", None),
        ("<title>  a\n\tb </title>", PageSummary("a b")),
        ("<title>a\u202eb\u0007\u200b</title>", PageSummary("ab")),
        ("<title>&lt;b>bold&lt;/b></title>", PageSummary("<b>bold</b>")),
        (
            "<title>a</title><meta property=og:image content='javascript:alert(1)'>",
            PageSummary("a"),
        ),
        (
            "<title>a</title><meta property=og:image content='data:image/png,x'>",
            PageSummary("a"),
        ),
        ("<title>a</title><meta property=og:image content='http://[x'>", PageSummary("a")),
    ],
)
async def test_the_title_and_description_of_a_page_are_extracted(
    html: str, short: PageSummary | None
) -> None:
    assert await shown(html) == short


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ("<title>Grüße</title>".encode(), ""),
        ("<title>Grüße</title>".encode("cp1252"), ""),
        ("<title>Grüße</title>".encode("latin-1"), "iso-8859-1"),
        ("<meta charset=latin-1><title>Grüße</title>".encode("latin-1"), ""),
        ("<title>Grüße</title>".encode("utf-8-sig"), "latin-1"),
        ("<title>Grüße</title>".encode("utf-16"), ""),
        ("<title>Grüße</title>".encode(), "no-such-charset"),
        ("<title>Grüße</title>".encode(), "rot13"),
    ],
)
async def test_a_page_is_decoded_with_its_own_encoding(data: bytes, charset: str) -> None:
    short = await shown(data, charset)
    assert short is not None and short.title == "Grüße"


async def test_descriptions_are_shortened_and_only_the_start_of_a_page_is_read() -> None:
    long = await shown(f"<title>{'a' * 9999}</title><meta name=description content='{'b ' * 9999}'>")
    assert long is not None
    assert (len(long.title), long.title[-1]) == (MAX_TITLE, "…") and len(long.description) <= MAX_DESCRIPTION
    assert await shown("<script>" + "x" * MAX_BYTES + "</script><title>late</title>") is None


@pytest.mark.parametrize(
    "piece", ["<", "<!", "<!--", "</", "<a ", "&", "<![CDATA[", "<?", '<a b="', "<title>", "<script>"]
)
async def test_hostile_pages_are_abandoned(piece: str) -> None:
    hostile = piece * (MAX_BYTES // len(piece))
    assert (await shown(hostile)) in (None, PageSummary(plain(hostile[7:], MAX_TITLE)))


async def test_one_sandbox_can_read_many_pages() -> None:
    async with head_sandbox() as sandbox:
        page = FetchedFile(b"<title>a</title>", URL, "text/html", "")
        for _ in range(3):
            assert await page_summary(page, sandbox) == PageSummary("a")
    assert isinstance(sandbox, Sandbox)


def test_only_html_counts_as_a_page() -> None:
    kinds = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf", "")
    assert [is_page(FetchedFile(b"", URL, kind, "")) for kind in kinds] == [True, True, False, False, False]
