"""The server finds the links in a message that get previews."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.messages.markdown import MAX_LINKS, links_of

A, B = "https://a.example/", "http://b.example/c?d=e#f"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (f"see {A} and {B}", (A, B)),
        (f"{A} {A}", (A,)),
        (f"({A}), [{B}]!", (A, B)),
        (f"[text]({A}) **{B}**", (A, B)),
        (f"[text]({A}).\n\n> {B}", (A, B)),
        ("https://a.example/x_(y)", ("https://a.example/x_(y)",)),
        ("https://a.example/x.", ("https://a.example/x",)),
        ("HTTPS://a.example", ("HTTPS://a.example",)),
        (f"<{A}> {B}", (B,)),
        (f"[text](<{A}>)", ()),
        (f"`{A}` ``{B}``", ()),
        (f"```\n{A}\n```\n{B}", (B,)),
        (f"    {A}", ()),
        (f"||{A}|| {B}", (B,)),
        ("\\https://a.example", ()),
        *(("xhttps://a.example", ()), ("éhttps://a.example", ()), ("1https://a.example", ())),
        (f"請看{A}", (A,)),
        ("見てhttps://a.example/道。次", ("https://a.example/道",)),
        ("ftp://a.example a.example mailto:a@a.example", ()),
        ("https://a.example/" + "x" * 3000, ()),
        (
            " ".join(f"https://a.example/{n}" for n in range(9)),
            tuple(f"https://a.example/{n}" for n in range(3)),
        ),
        ("no links", ()),
        ("https://", ()),
    ],
)
def test_links_in_a_message_are_found(text: str, links: tuple[str, ...]) -> None:
    assert links_of(text) == links


@given(st.text(alphabet="htps:/.ab<>()[]|`\\ \n", max_size=200))
def test_every_link_that_is_found_occurs_in_the_message(text: str) -> None:
    links = links_of(text)
    assert len(links) <= MAX_LINKS and all(link in text for link in links)
