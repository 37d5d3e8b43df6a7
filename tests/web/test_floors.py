"""The floors of the page: who may import whom stands in ARCHITECTURE.md, and `state` knows no DOM.

A view knows no markup of another one.
"""

import posixpath
import re
from pathlib import Path

import pytest

from svc.chat.community import WEB_FOLDER
from tests.kit.markdown import rows

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
IMPORT = re.compile(r"""(?:^(?:import|export)\b[^"';]*|\bimport\()["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
MODULES = sorted(
    path.relative_to(WEB_FOLDER).as_posix()
    for path in WEB_FOLDER.rglob("*.js")
    if "vendor" not in path.relative_to(WEB_FOLDER).parts
)

# The head of index.html belongs to no view; a small window shows whichever picture there is.
LOOKED_FOR = {
    "views/alerts/badge.js": {'document.querySelector("link[rel=icon]")'},
    "views/call/pop_out.js": {
        'document.querySelectorAll("link[rel=stylesheet]")',
        "document.querySelector(PICTURES)",
    },
}


def floors() -> dict[str, set[str]]:
    table = [row for row in rows(ARCHITECTURE, "The page") if len(row.cells) == 3]
    return {row.code(0)[0]: set(row.code(2)) for row in table}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_its_own_floor_and_those_below(module: str) -> None:
    folder = module.split("/")[0]
    if folder == module:
        return  # The start of the page puts everything together.
    allowed = floors()[folder] | {folder}
    for address in IMPORT.findall((WEB_FOLDER / module).read_text()):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(module), address))
        assert (WEB_FOLDER / target).is_file(), target
        assert target.split("/")[0] in allowed, f"{module} imports {target}"


@pytest.mark.parametrize("module", [module for module in MODULES if module != "transport/kept.js"])
def test_what_the_browser_keeps_is_read_in_one_place(module: str) -> None:
    code = COMMENT.sub("", (WEB_FOLDER / module).read_text())
    assert not re.search(r"\b(local|session)Storage\b(?!\")", code)


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("state/")])
def test_state_knows_no_dom(module: str) -> None:
    code = COMMENT.sub("", (WEB_FOLDER / module).read_text())
    # The root that look.js is handed for its attributes is all that it needs.
    code = code.replace("root = document.documentElement", "")
    assert not re.search(r"\bdocument\b|\bHTML\w*Element\b|views/", code)


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith(("views/", "call/"))])
def test_no_view_looks_for_another_s_markup(module: str) -> None:
    """It leads there by refs, signals and `views/composer/fields`."""
    code = COMMENT.sub("", (WEB_FOLDER / module).read_text())
    looks = re.findall(r"document\s*\.\s*(?:getElement\w+|querySelector(?:All)?)\([^)]*\)", code)
    assert set(looks) <= LOOKED_FOR.get(module, set())


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith(("views/", "call/"))])
def test_no_view_makes_html_of_text(module: str) -> None:
    code = (WEB_FOLDER / module).read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(", code)
