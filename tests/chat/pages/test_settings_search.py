"""The settings search finds exactly the settings on the settings pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.chat.pages.routes import WEB_FOLDER

VIEWS = WEB_FOLDER / "views"
PAGES = (VIEWS / "settings/pages.js").read_text()
# The other pages list members, roles, webhooks and so on, so their labels do not name settings.
OF_SETTINGS = {"profile", "look", "voice", "notifications", "data", "identity", "server"}
NO_SETTINGS = {"listen-to", "this-device"}


def pages() -> Iterator[tuple[str, Path, list[str]]]:
    """Yield each page's name, its module, and the string keys of the settings that the search finds."""
    imported = dict(re.findall(r'import \{ (\w+) \} from "([^"]+)"', PAGES))
    for name, tag_rest, words in re.findall(
        r'\{\s*name: "(\w+)",(.*?)words: \(\) => \[(.*?)\]', PAGES, re.DOTALL
    ):
        later = re.search(r'import\("([^"]+)"\)', tag_rest)
        path = later[1] if later else imported[re.findall(r"Page: (\w+)", tag_rest)[0]]
        yield name, (VIEWS / "settings" / path).resolve(), re.findall(r't\("([\w-]+)"\)', words)


def with_imports(module: Path, seen: set[Path]) -> set[Path]:
    """Return a view's module and the modules of all views that it imports, directly or indirectly."""
    if module not in seen and module.is_relative_to(VIEWS):
        seen.add(module)
        for path in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', module.read_text()):
            with_imports((module.parent / path).resolve(), seen)
    return seen


@pytest.mark.parametrize(("name", "module", "words"), [pytest.param(*page, id=page[0]) for page in pages()])
def test_the_search_finds_exactly_the_settings_on_each_page(
    name: str, module: Path, words: list[str]
) -> None:
    source = "".join(path.read_text() for path in with_imports(module, set()))
    assert words and not [key for key in words if f't("{key}"' not in source]
    labels = re.findall(r'(?:label=|<h4[^>]*>)\$\{t\("([\w-]+)"', module.read_text())
    if name in OF_SETTINGS:
        assert set(labels) <= {*words, *NO_SETTINGS}
