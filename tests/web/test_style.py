"""Tests that the style sheets follow the rules for directions, sizes, colours and animations.

The style sheets use start and end instead of left and right, because both text directions are supported.
Spacing, text sizes and corner radii are on the scales that base.css describes. Colours, shadows and control
heights are design tokens. Transitions and animations are short. The accent colour is used only for the
purposes that base.css lists.

The tests check property names and keywords, not the rendering.
"""

import re
from collections.abc import Callable

import pytest

from svc.chat.pages.routes import WEB_FOLDER

STYLE = WEB_FOLDER / "style"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<=[{;])\s*([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])")
SIDE = re.compile(r"(?:^|-)(?:left|right|top|bottom)(?:-|$)|^(?:min-|max-)?(?:width|height)$")
ALIGNED = {"text-align", "float", "clear", "justify-content", "justify-items", "justify-self"}
SIDES = {"margin", "padding", "inset", "border-width", "border-style", "border-color"}
# The spacing scale. Larger values, which leave room for other elements, are not checked.
SPACES = {"0", "1", "2", "4", "6", "8", "12", "16", "24", "32", "48"}
SPACE = re.compile(r"(?:^|-)(?:gap|padding|margin)(?:-|$)")
LENGTH = re.compile(r"(?<![\w.#])(\d+(?:\.\d+)?)px")
TEXT_SIZE = re.compile(
    r"var\(--(?:xs|s|l|xl)\)|1rem|0|inherit|[\d.]+em|min\(var\(--xs\), 11px\)|max\(16px, 1em\)"
)
RADIUS = re.compile(r"(?:var\(--r(?:-s|-l)?\)|50%|99px|inherit|0| )+")
# The selectors that may use other text sizes: the base size, initials in avatars, and large emoji.
PICTURES = re.compile(r":root|\.avatar|\.floats|\.large|\.signs|\.big")
# Transitions and animations use a duration token of at most this length. LONGER lists those with their own
# durations: indicators of ongoing states, floating reactions, and delays.
MAX_MOVEMENT_MS = 200
MOVEMENTS = ("--quick", "--slide")
LONGER = {"skeletons", "turn", "ring", "beat", "marked", "float-up", "only-shown", "display"}
DURATION = re.compile(r"(?<![\w-])([\d.]+)(ms|s)\b")
# Heights in px in this range, between indicators and boxes, are those of controls and must be tokens. Squares
# of these sizes are images.
HEIGHTS, PICTURE_SIZES = range(21, 61), {24, 32, 40, 48, 56}
HEIGHT = re.compile(r"(?:min-)?block-size")
FUNCTION = re.compile(r"[\w-]+\([^()]*\)")
RULE = re.compile(r"([^{};]+)\{(?=([^{}]*))")
COLOUR = re.compile(
    r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|oklab|lab|lch)a?\((?=[\d.])|\b(?:white|black)\b(?!-)"
)
TOKENS = {"base.css", "later/colours.css"}  # The style sheets that may contain literal colours.
# The selectors that may use the accent, by purpose.
ACCENT = re.compile(
    r":checked|:indeterminate|aria-current|aria-pressed|data-chosen|\.on\b"  # The current selection.
    r"|\[type=\"(?:radio|checkbox|range)\"\]|slider-thumb|range-thumb"
    r"|\.primary|\.send\b"  # The primary action.
    r"|\ba\b|\.link\b|\.mention\b|\.answers$|\.emoji-state button"  # Links, including mentions and threads.
    r"|:focus"
)
TOKEN = re.compile(r"[^\s()]*\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+")


def physical(css: str) -> list[str]:
    """Return the declarations that refer to a physical side or set left and right differently."""
    problems = []
    for name, value in DECLARATION.findall(COMMENT.sub("", css)):
        four = TOKEN.findall(value)
        uneven = name in SIDES and len(four) == 4 and four[1] != four[3]
        aligned = name in ALIGNED and {"left", "right"} & set(four)
        if SIDE.search(name) or uneven or aligned:
            problems.append(f"{name}: {value.strip()}")
    return problems


@pytest.mark.parametrize(
    "rule",
    [
        "a { margin-inline-start: 2px; inset-block-end: 0; text-align: start }",
        "a { padding: 0 14px calc(12px + env(safe-area-inset-bottom)); margin: 1px 2px 3px 2px; }",
        "@media (max-width: 640px) { a:hover { inline-size: 10px; } } /* left: 0; */",
        "a { transition: translate 1s, border-color 1s; background: none top left; }",
    ],
)
def test_declarations_without_a_physical_side_are_not_reported(rule: str) -> None:
    assert physical(rule) == []


def off_scale(css: str) -> list[str]:
    """Return the declarations of spacing, text sizes or corner radii that are not on a scale."""
    problems = []
    for selector, block in RULE.findall(COMMENT.sub("", css)):
        for name, value in DECLARATION.findall("{" + block + ";}"):
            words = value.strip()
            odd = (
                (
                    SPACE.search(name)
                    and any(px not in SPACES and float(px) <= 48 for px in LENGTH.findall(words))
                )
                or (name == "font-size" and not PICTURES.search(selector) and not TEXT_SIZE.fullmatch(words))
                or (name == "border-radius" and not RADIUS.fullmatch(words))
            )
            if odd:
                problems.append(f"{selector.split()[-1]} {name}: {words}")
    return problems


def written_colours(css: str) -> list[str]:
    """Return the declarations that contain a literal colour instead of a design token."""
    problems = []
    for selector, block in RULE.findall(COMMENT.sub("", css)):
        for name, value in DECLARATION.findall("{" + block + ";}"):
            if COLOUR.search(value):
                problems.append(f"{selector.split()[-1]} {name}: {value.strip()}")
    return problems


@pytest.mark.parametrize(
    "declaration",
    ["color: var(--text)", "background: oklch(var(--face) var(--hue))", "white-space: nowrap", "fill: none"],
)
def test_design_tokens_are_not_reported(declaration: str) -> None:
    assert written_colours(f"@layer views {{ .a {{ {declaration}; }} }}") == []


def test_only_two_style_sheets_contain_literal_colours() -> None:
    sheets = {path.relative_to(STYLE).as_posix(): path.read_text() for path in STYLE.rglob("*.css")}
    assert {name: written_colours(css) for name, css in sheets.items() if name not in TOKENS} == {
        name: [] for name in sheets.keys() - TOKENS
    }


def test_only_the_selection_the_primary_action_links_and_the_focus_use_the_accent() -> None:
    users = {
        selector.strip()
        for path in STYLE.rglob("*.css")
        for selector, block in RULE.findall(COMMENT.sub("", path.read_text()))
        if "-accent)" in block or "--accent-fill)" in block
    }
    assert {selector for selector in users if not ACCENT.search(selector)} == set()
    assert any(".primary" in selector for selector in users)


def blurred_shadows(css: str) -> list[str]:
    """Return the shadows that are not a design token, a plain line or a ring."""
    problems = []
    for name, value in DECLARATION.findall(COMMENT.sub("", css)):
        while name == "box-shadow" and value != (value := FUNCTION.sub("…", value)):
            pass
        for shadow in value.split(",") if name == "box-shadow" else ():
            words = shadow.replace("inset", "").split()
            if len(words) > 2 and words[2] != "0":
                problems.append(shadow.strip())
    return problems


def own_times(css: str) -> list[str]:
    """Return the transitions and animations with a duration that is not a design token."""
    problems = []
    for name, value in DECLARATION.findall(COMMENT.sub("", css)):
        for part in value.split(",") if name in {"transition", "animation"} else ():
            if DURATION.search(part) and part.split()[0] not in LONGER:
                problems.append(part.strip())
    return problems


def odd_heights(css: str) -> list[str]:
    """Return the control heights that are not design tokens."""
    problems = []
    for selector, block in RULE.findall(COMMENT.sub("", css)):
        sizes = {name: value.strip() for name, value in DECLARATION.findall("{" + block + ";}")}
        for name, value in sizes.items():
            px = re.match(r"(\d+)px", value)
            if HEIGHT.fullmatch(name) and px and int(px[1]) in HEIGHTS:
                is_picture = int(px[1]) in PICTURE_SIZES and sizes.get("inline-size") == value
                if not is_picture and ".graph" not in selector:
                    problems.append(f"{selector.split()[-1]} {name}: {value}")
    return problems


def test_shadows_durations_and_heights_that_are_not_design_tokens_are_reported() -> None:
    ring = "box-shadow: 0 0 0 2px var(--line), var(--shadow);"
    blurred = "box-shadow: 0 8px 32px var(--scrim);"
    assert blurred_shadows(f".a {{ {ring} {blurred} }}") == ["0 8px 32px …"]
    moves = "transition: opacity var(--quick), translate 0.3s; animation: turn 800ms;"
    assert own_times(f".a {{ {moves} }}") == ["translate 0.3s"]
    assert odd_heights(".a { min-block-size: 38px; inline-size: 38px; }") == [".a min-block-size: 38px"]
    assert odd_heights(".a { block-size: 40px; inline-size: 40px; min-block-size: var(--row); }") == []


@pytest.mark.parametrize(
    ("check", "declaration"),
    [
        (physical, "margin-left: 2px"),
        (physical, "left: 0"),
        (physical, "border-right: 1px solid"),
        (physical, "border-top-left-radius: 4px"),
        (physical, "scroll-margin-top: 8px"),
        (physical, "max-width: 10px"),
        (physical, "text-align: left"),
        (physical, "padding: 1px 2px 3px calc(4px + env(safe-area-inset-left))"),
        (physical, "inset: 0 auto auto 2px"),
        (off_scale, "gap: 5px"),
        (off_scale, "padding: 8px 14px"),
        (off_scale, "font-size: 0.9rem"),
        (off_scale, "border-radius: 10px"),
        (written_colours, "color: #fff"),
        (written_colours, "background: rgb(0 0 0 / 50%)"),
        (written_colours, "fill: white"),
        (written_colours, "color: oklch(0.5 0.1 20)"),
    ],
)
def test_a_forbidden_declaration_is_reported(check: Callable[[str], list[str]], declaration: str) -> None:
    problems = check(f"@layer views {{ .a {{ display: block; {declaration}; }} }}")
    assert [problem.removeprefix(".a ") for problem in problems] == [declaration]


@pytest.mark.parametrize("check", [physical, off_scale, blurred_shadows, own_times, odd_heights])
def test_every_style_sheet_follows_the_rules(check: Callable[[str], list[str]]) -> None:
    sheets = {path.relative_to(STYLE).as_posix(): check(path.read_text()) for path in STYLE.rglob("*.css")}
    assert {name: problems for name, problems in sheets.items() if problems} == {}


def test_transitions_and_animations_are_short() -> None:
    tokens = dict(re.findall(r"(--[a-z]+): (\d+)ms;", (STYLE / "base.css").read_text()))
    assert tokens.keys() == set(MOVEMENTS)
    assert max(map(int, tokens.values())) <= MAX_MOVEMENT_MS
