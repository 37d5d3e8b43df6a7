"""The style sheets use start and end instead of left and right, because pages exist in both directions.

Checks property names and keywords, not the rendering.
"""

import re
from pathlib import Path

import pytest

from svc.chat.pages.routes import WEB_FOLDER

STYLE = WEB_FOLDER / "style"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<=[{;])\s*([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])")
SIDE = re.compile(r"(?:^|-)(?:left|right|top|bottom)(?:-|$)|^(?:min-|max-)?(?:width|height)$")
ALIGNED = {"text-align", "float", "clear", "justify-content", "justify-items", "justify-self"}
SIDES = {"margin", "padding", "inset", "border-width", "border-style", "border-color"}
TOKEN = re.compile(r"[^\s()]*\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+")


def physical(css: str) -> list[str]:
    """Return the declarations that name a side of the screen, or give left and right different sizes."""
    found = []
    for name, value in DECLARATION.findall(COMMENT.sub("", css)):
        four = TOKEN.findall(value)
        uneven = name in SIDES and len(four) == 4 and four[1] != four[3]
        aligned = name in ALIGNED and {"left", "right"} & set(four)
        if SIDE.search(name) or uneven or aligned:
            found.append(f"{name}: {value.strip()}")
    return found


@pytest.mark.parametrize(
    "declaration",
    [
        "margin-left: 2px",
        "left: 0",
        "border-right: 1px solid",
        "border-top-left-radius: 4px",
        "scroll-margin-top: 8px",
        "max-width: 10px",
        "text-align: left",
        "padding: 1px 2px 3px calc(4px + env(safe-area-inset-left))",
        "inset: 0 auto auto 2px",
    ],
)
def test_a_physical_side_is_found(declaration: str) -> None:
    assert physical(f"@layer views {{ a {{ color: red; {declaration}; }} }}") == [declaration]


@pytest.mark.parametrize(
    "rule",
    [
        "a { margin-inline-start: 2px; inset-block-end: 0; text-align: start }",
        "a { padding: 0 14px calc(12px + env(safe-area-inset-bottom)); margin: 1px 2px 3px 2px; }",
        "@media (max-width: 640px) { a:hover { inline-size: 10px; } } /* left: 0; */",
        "a { transition: translate 1s, border-color 1s; background: none top left; }",
    ],
)
def test_names_without_a_side_are_not_found(rule: str) -> None:
    assert physical(rule) == []


@pytest.mark.parametrize(
    "path", sorted(STYLE.rglob("*.css")), ids=lambda path: path.relative_to(STYLE).as_posix()
)
def test_no_style_sheet_names_a_physical_side(path: Path) -> None:
    assert physical(path.read_text()) == []
