"""The layer checker finds every kind of violation in small example trees."""

from pathlib import Path

import pytest

from tests.kit.architecture import Architecture, Never, violations
from tests.kit.imports import Import, read_imports

ARCHITECTURE = Architecture(
    package="app",
    layers={
        "core": frozenset(),
        "base": frozenset(),
        "web": frozenset({"base", "core"}),
        "cli": frozenset({"web"}),
        "shop": frozenset(),
    },
    libraries={"aiohttp": ("app.web.*routes",)},
    rules=(
        Never("app.core", ("time", "<sys/socket.h>", "libc.time"), but=("app.core.loop",)),
        Never("app.web", ("app.core",), but=("app.web.media",)),
    ),
    private=("app.web.*.store",),
    inner={"app.shop": {"upper": ("till",), "lower": ("goods", "stock")}},
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Create a small source tree with layers and a single allowed import."""
    for module in (
        "core/wire.pxd",
        "core/loop.pyx",
        "core/__init__.py",
        "web/media.py",
        "web/members/store.py",
        "shop/goods.py",
    ):
        write(tmp_path, module, "")
    for module in ("base/clock.py", "cli.py", "__init__.py"):
        write(tmp_path, module, "")
    write(tmp_path, "web/media.py", "from app.core import loop\n")
    write(tmp_path, "shop/till.py", "from app.shop import goods\n")
    return tmp_path


def write(root: Path, module: str, source: str) -> None:
    path = root / "app" / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)


def test_a_source_tree_that_follows_its_table_has_no_violations(tree: Path) -> None:
    assert violations(tree, ARCHITECTURE) == []


@pytest.mark.parametrize(
    ("module", "source", "problem"),
    [
        ("base/x.py", "import app.web.media", "app/base/x.py:1: base may not import web (app.web.media)"),
        ("base/x.py", "from app import cli", "app/base/x.py:1: base may not import cli (app.cli)"),
        ("base/x.py", "def f():\n    import app.cli\n", "app/base/x.py:2: base may not import cli (app.cli)"),
        (
            "base/x.py",
            "if TYPE_CHECKING:\n    from app.web import media",
            "app/base/x.py:2: base may not import web (app.web.media)",
        ),
        (
            "base/x.py",
            "import importlib\nimportlib.import_module('app.cli')",
            "app/base/x.py:2: base may not import cli (app.cli)",
        ),
        (
            "core/x.pyx",
            "cimport app.base.clock",
            "app/core/x.pyx:1: core may not import base (app.base.clock)",
        ),
        (
            "core/x.pxd",
            "from app.base.clock cimport now",
            "app/core/x.pxd:1: core may not import base (app.base.clock)",
        ),
        (
            "core/x.pyx",
            "cdef int f():\n    from app.base import clock",
            "app/core/x.pyx:2: core may not import base (app.base.clock)",
        ),
        ("core/x.pyx", "import time", "app/core/x.pyx:1: app.core.x may not import time"),
        ("core/x.pyx", "import os, time as t", "app/core/x.pyx:1: app.core.x may not import time"),
        (
            "core/x.pyx",
            "from libc.time cimport time",
            "app/core/x.pyx:1: app.core.x may not import libc.time",
        ),
        (
            "core/x.pyx",
            'cdef extern from "sys/socket.h":\n    int socket()\n',
            "app/core/x.pyx:1: app.core.x may not import <sys/socket.h>",
        ),
        (
            "core/x.pyx",
            'cdef extern from *:\n    """\n    #include <sys/socket.h>\n    """\n',
            "app/core/x.pyx:1: app.core.x may not import <sys/socket.h>",
        ),
        ("core/x.pyx", 'include "wire.pxi"', "app/core/x.pyx:1: a textual include"),
        ("core/x.pyx", "from .wire cimport load", "app/core/x.pyx:1: a relative import"),
        ("base/x.py", "from . import clock", "app/base/x.py:1: a relative import"),
        ("web/x.py", "from app.core import wire", "app/web/x.py:1: app.web.x may not import app.core.wire"),
        ("web/rules.py", "import aiohttp.web", "app/web/rules.py:1: app.web.rules may not use aiohttp"),
        (
            "web/voice/rules.py",
            "from app.web.members import store",
            "app/web/voice/rules.py:1: app.web.voice.rules may not import app.web.members.store,"
            " which is private to its folder",
        ),
        ("base/x.py", "import requests", "app/base/x.py:1: app.base.x may not use requests"),
        (
            "shop/stock.py",
            "from app.shop import goods, till",
            "app/shop/stock.py:1: stock may not import till, which is in a higher layer of app.shop",
        ),
        ("shop/x.py", "import app.shop.till", "app/shop/x.py:1: x has no layer in app.shop"),
        ("attic/x.py", "import app.base.clock", "app/attic/x.py:1: attic has no place in the layer table"),
    ],
)
def test_a_violation_is_reported_with_its_location(
    tree: Path, module: str, source: str, problem: str
) -> None:
    write(tree, module, source)
    assert violations(tree, ARCHITECTURE) == [problem]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core/loop.pyx", "import time\nfrom libc.time cimport time\n"),
        (
            "core/x.pyx",
            '"""Docs say: import time\n\nimport time\n"""\n# import time\nx = "\\"; import time"\n',
        ),
        ("core/x.pyx", "cdef int important = 1\n"),
        ("web/voice/routes.py", "import aiohttp\n"),
        ("web/routes.py", "from aiohttp import web\n"),
        ("web/routes.py", "import app\n"),
        ("web/members/rules.py", "from app.web.members import store\n"),
    ],
)
def test_allowed_imports_are_not_reported(tree: Path, module: str, source: str) -> None:
    write(tree, module, source)
    assert violations(tree, ARCHITECTURE) == []


def test_import_cycles_through_functions_and_pxd_files_are_found(tree: Path) -> None:
    write(tree, "core/a.pyx", "from app.core.b cimport B")
    write(tree, "core/b.pxd", "from app.core.c cimport C")
    write(tree, "core/c.pyx", "def f():\n    from app.core import a\n")
    [cycle, same_within_the_folder] = violations(tree, ARCHITECTURE)
    assert cycle.startswith("an import cycle of files: ")
    assert {f"app.core.{name}" for name in "abc"} == set(
        cycle.removeprefix("an import cycle of files: ").split(" is imported by ")
    )
    assert same_within_the_folder.startswith("an import cycle of folders in app.core: ")


def test_an_import_cycle_between_folders_is_found_even_without_one_between_files(tree: Path) -> None:
    write(tree, "web/voice/rules.py", "import app.web.members.names")
    write(tree, "web/members/names.py", "")
    write(tree, "web/members/rules.py", "import app.web.voice.rooms")
    write(tree, "web/voice/rooms.py", "")
    [cycle] = violations(tree, ARCHITECTURE)
    assert cycle.startswith("an import cycle of folders in app.web: ")


def test_a_module_and_its_pxd_file_count_as_one_node(tree: Path) -> None:
    write(tree, "core/x.pxd", "cdef class X: pass")
    write(tree, "core/x.pyx", "from app.core.x cimport X")
    assert violations(tree, ARCHITECTURE) == []


def test_all_forms_of_cython_imports_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x.pyx"
    path.write_text(
        '"""Not an import: cimport nothing"""\n'
        "cimport cython, app.a as a\n"
        "from app.b cimport (\n    one,  # from x import y\n    two as deux,\n)\n"
        "from app.c \\\n    import three\n"
        "IF = 1; import app.d\n"
        "if IF: import app.e\n"
    )
    assert read_imports(path) == [
        Import(2, "cython"),
        Import(2, "app.a"),
        Import(3, "app.b", "one"),
        Import(3, "app.b", "two"),
        Import(7, "app.c", "three"),
        Import(9, "app.d"),
        Import(10, "app.e"),
    ]
