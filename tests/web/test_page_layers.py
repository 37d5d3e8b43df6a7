"""Tests that web client modules import only from permitted layers.

ARCHITECTURE.md lists the permitted imports. In addition, `state` must not use the DOM, and a view must not
query another view's markup.
"""

import posixpath
import re
from graphlib import TopologicalSorter
from pathlib import Path

from svc.chat.pages.routes import WEB_FOLDER
from tests.kit.markdown import rows

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
IMPORT = re.compile(r"""(?:^(?:import|export)\b[^"';]*|\bimport\()["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
MODULES = sorted(
    path.relative_to(WEB_FOLDER).as_posix()
    for path in WEB_FOLDER.rglob("*.js")
    if "vendor" not in path.relative_to(WEB_FOLDER).parts
)

# The permitted queries. The head of index.html belongs to no view, and the pop-out window can show any view's
# video.
QUERIES = {
    "views/alerts/badge.js": {'document.querySelector("link[rel=icon]")'},
    "views/call/pop_out.js": {
        'document.querySelectorAll("link[rel=stylesheet]")',
        "document.querySelector(PICTURES)",
    },
}


def layers_of_the_page() -> dict[str, set[str]]:
    table = [row for row in rows(ARCHITECTURE, "The web client") if len(row.cells) == 3]
    return {row.code(0)[0]: set(row.code(2)) for row in table}


def code_of(folders: tuple[str, ...] = ("",)) -> dict[str, str]:
    """Return the source of each module in these folders, without comments."""
    return {
        module: COMMENT.sub("", (WEB_FOLDER / module).read_text())
        for module in MODULES
        if module.startswith(folders)
    }


def test_modules_import_only_from_their_own_layer_and_those_below() -> None:
    layers = layers_of_the_page()
    wrong = []
    for module in MODULES:
        folder = module.split("/")[0]
        if folder == module:
            continue  # The startup modules import from all layers.
        for address in IMPORT.findall((WEB_FOLDER / module).read_text()):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(module), address))
            if not (WEB_FOLDER / target).is_file() or target.split("/")[0] not in layers[folder] | {folder}:
                wrong.append(f"{module} imports {target}")
    assert wrong == []


def test_there_are_no_import_cycles_even_through_dynamic_imports() -> None:
    graph = {
        module: [
            posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
            for path in IMPORT.findall(code)
        ]
        for module, code in code_of().items()
    }
    TopologicalSorter(graph).prepare()


def test_browser_storage_is_read_in_one_place() -> None:
    storage = re.compile(r"\b(local|session)Storage\b(?!\")")
    readers = {module for module, code in code_of().items() if storage.search(code)}
    assert readers <= {"transport/browser_storage.js"}


def test_state_does_not_use_the_dom() -> None:
    dom = re.compile(r"\bdocument\b|\bHTML\w*Element\b|views/")
    # appearance.js may set attributes on the root element.
    states = {
        module: code.replace("root = document.documentElement", "")
        for module, code in code_of(("state/",)).items()
    }
    assert [module for module, code in states.items() if dom.search(code)] == []


def test_no_view_queries_another_views_markup() -> None:
    """Views access other views only through refs, signals and `views/parts/focus`."""
    search = re.compile(r"document\s*\.\s*(?:getElement\w+|querySelector(?:All)?)\([^)]*\)")
    queries = {module: set(search.findall(code)) for module, code in code_of(("views/", "call/")).items()}
    assert {module: searches for module, searches in queries.items() if searches} == QUERIES


def test_no_view_creates_html_from_text() -> None:
    html = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(")
    views = [module for module in MODULES if module.startswith(("views/", "call/"))]
    assert [module for module in views if html.search((WEB_FOLDER / module).read_text())] == []
