"""The type declarations for checking the web client match the server and the libraries.

`ci/types` runs the type checker.
"""

import json
import re
from pathlib import Path

import pytest

from svc.chat.pages.routes import WEB_FOLDER
from tests.web.declarations import DECLARATIONS, declarations

REPOSITORY = Path(__file__).parents[3]
SHIMS = sorted((WEB_FOLDER / "vendor").glob("*.d.ts"))


def test_every_module_is_type_checked_for_the_page_or_a_worker() -> None:
    page, workers = (
        json.loads((REPOSITORY / name).read_text()) for name in ("jsconfig.json", "ci/workers.json")
    )
    assert page["include"] == ["src/svc/web"]
    assert {f"../{path}" for path in page["exclude"]} - set(workers["include"]) == {"../src/svc/web/vendor"}


def test_the_types_match_the_servers_descriptions() -> None:
    assert DECLARATIONS.read_text(encoding="utf-8") == declarations(), "run ci/types write"


def test_the_types_for_a_library_describe_its_vendored_version() -> None:
    used = json.loads((REPOSITORY / "ci" / "vendor.json").read_text())["dependencies"]
    checked = json.loads((REPOSITORY / "tests" / "lint" / "package.json").read_text())["dependencies"]
    without_types = ("emojibase-data", "lucide-static", "@fontsource-variable/inter", "twemoji-colr-font")
    assert {
        name: version for name, version in used.items() if name not in without_types
    }.items() <= checked.items()


@pytest.mark.parametrize("shim", SHIMS, ids=lambda path: path.name)
def test_a_library_exports_what_its_types_declare(shim: Path) -> None:
    library = shim.with_suffix("").with_suffix(".js").read_text()
    [exported] = re.findall(r"export\{([^}]*)\}", library)
    typed = re.findall(r"^export (?:\{([^}]*)\}|function (\w+))", shim.read_text(), re.MULTILINE)
    names = {name.split(" as ")[-1].strip() for several in typed for name in "".join(several).split(",")}
    assert names <= {name.split(" as ")[-1] for name in exported.split(",")}
