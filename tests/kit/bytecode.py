"""Compiles changed modules and test files once, before the workers of pytest-xdist start.

In a new checkout, all workers would otherwise compile the same files at the same time. For a test file, this
takes longer than its import, because pytest rewrites each assertion.
"""

import compileall
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).parents[2]
TEST_FILES = "test_*.py"

_config: pytest.Config  # Set in each process of the pool.


def compile_changed(config: pytest.Config) -> None:
    """Compile the package, the tests' own modules, and the test files that the command line names."""
    named = {Path(argument.partition("::")[0]) for argument in config.args}
    files = {file.resolve() for path in named for file in _test_files(path)} | set(_modules())
    with get_context("fork").Pool(initializer=_keep, initargs=(config,)) as pool:
        for _ in pool.imap_unordered(_compile, sorted(files), chunksize=8):
            pass


def _test_files(path: Path) -> Iterable[Path]:
    return path.rglob(TEST_FILES) if path.is_dir() else [path]


def _modules() -> list[Path]:
    modules = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return [path for path in modules if not path.match(TEST_FILES)]


def _keep(config: pytest.Config) -> None:
    global _config
    _config = config


def _compile(path: Path) -> None:
    if not path.match(TEST_FILES):
        compileall.compile_file(path, quiet=2)
        return
    folder = rewrite.get_cache_dir(path)
    cached = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, cached) is None and rewrite.try_makedirs(folder):
        state = _config.stash[rewrite.assertstate_key]
        source_hash, code = rewrite._rewrite_test(path, _config)
        rewrite._write_pyc(state, code, source_hash, cached)
