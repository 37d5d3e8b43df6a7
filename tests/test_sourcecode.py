"""Checks the length of source files and functions, and that module docstrings start with a sentence.

ci/check checks formatting and types. The limits are not targets: half of the files should stay under 170
lines, and most functions should have about 10 lines.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import cython_source
from tests.kit.architecture import SUFFIXES, source_files

REPOSITORY = Path(__file__).parent.parent
LINES_PER_FILE = 500
LINES_PER_FUNCTION = 60
COLUMNS = 110  # as in pyproject.toml and biome.jsonc, whose formatters do not wrap templates and comments

SOURCES = source_files(REPOSITORY / "src", "svc")
TESTS = [path for path in source_files(REPOSITORY, "tests") if path.suffix == ".py"]
WEB = REPOSITORY / "src" / "svc" / "web"
PAGE = [
    path
    for path in [*WEB.rglob("*.*"), *(REPOSITORY / "tests").rglob("*.mjs")]
    if path.suffix in {".js", ".mjs", ".ts", ".css"}
    and WEB / "vendor" not in path.parents
    and path != WEB / "types" / "api.d.ts"  # generated
]


def docstring(path: Path) -> str | None:
    source = path.read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)) if path.suffix == ".py" else cython_source.docstring(source)


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the first line and the length of every function in a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from cython_source.functions(source)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def opens_with_a_sentence(text: str | None) -> bool:
    if text is None or not text.strip() or text[0].isspace():
        return False
    first_paragraph = " ".join(text.split("\n\n")[0].split())
    return first_paragraph.endswith((".", "?", ":")) or ". " in first_paragraph


def test_every_module_docstring_starts_with_a_sentence() -> None:
    paths = SOURCES + TESTS
    assert [str(path) for path in paths if not opens_with_a_sentence(docstring(path))] == []


def test_no_file_exceeds_the_maximum_length() -> None:
    modules = [path for path in PAGE if path.suffix in {".js", ".mjs"}]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES + TESTS + modules}
    assert {path.name: length for path, length in lengths.items() if length > LINES_PER_FILE} == {}


def test_no_line_of_the_web_client_exceeds_the_maximum_length() -> None:
    long = [
        f"{path.relative_to(REPOSITORY)}:{number}"
        for path in PAGE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > COLUMNS
    ]
    assert PAGE and long == []


def test_no_function_exceeds_the_maximum_length() -> None:
    long = [
        f"{path.relative_to(REPOSITORY)}:{line} {name} has {length} lines"
        for path in SOURCES + TESTS
        for name, line, length in functions(path)
        if length > LINES_PER_FUNCTION
    ]
    assert long == []


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Reads RTP headers.", True),
        ("Reads RTP headers\nand writes them.\n\nCopies nothing.", True),
        ("h11-like events. Then more", True),
        ("RTP headers", False),
        ("\nReads RTP headers.", False),
        ("", False),
        (None, False),
    ],
)
def test_sentences_are_distinguished_from_titles(text: str | None, opens: bool) -> None:
    assert opens_with_a_sentence(text) is opens


def test_cython_functions_are_measured_to_their_last_line() -> None:
    source = '''"""A module."""
cdef inline int one(
    int a,
) noexcept nogil:
    """Says (one):

    not more.
    """
    return a

cdef class Thing(Base):
    cdef int size            # no function
    cdef int two(self)       # a declaration: no body

    cpdef three(self): return 3
    def four(self):
        if True:
            x = "def five(): pass"

        return x


cdef int six = call(1)
'''
    assert list(cython_source.functions(source)) == [("one", 2, 8), ("four", 16, 5)]


def test_the_checked_suffixes_include_cython() -> None:
    assert {path.suffix for path in SOURCES} == set(SUFFIXES)
