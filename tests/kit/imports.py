"""Finds the imports of a source file, in Python (`ast`) and in Cython (a scan).

Imports inside functions and under TYPE_CHECKING count like any other. Import linters cannot read Cython.
`tests.kit.architecture` checks the rules for imports.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.kit import cython_source

_FROM = re.compile(r"(?:^|[:;]\s*)from\s+([\w.]+)\s+c?import\s+([^;]+)", re.DOTALL)
_IMPORT = re.compile(r"(?:^|[:;]\s*)c?import\s+([^;]+)", re.DOTALL)
_INCLUDE = re.compile(r"^include\b")


@dataclass(frozen=True, slots=True)
class Import:
    line: int
    module: str  # "<sys/socket.h>" for a C header, "include" for Cython's textual include
    name: str | None = None  # the b in "from a import b"


def read_imports(path: Path) -> list[Import]:
    source = path.read_text(encoding="utf-8")
    return list(_python(source) if path.suffix == ".py" else _cython(source))


def _python(source: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(node.lineno, alias.name)
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    yield Import(node.lineno, "." * level + (module or ""), alias.name)
            case ast.Call(
                func=ast.Name(id="__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield Import(node.lineno, module)


def _cython(source: str) -> Iterator[Import]:
    for line in cython_source.logical_lines(source):
        if _INCLUDE.match(line.text):
            yield Import(line.first, "include")
        elif match := _FROM.search(line.text):
            for name in _names(match[2]):
                yield Import(line.first, match[1], name)
        elif match := _IMPORT.search(line.text):
            for name in _names(match[1]):
                yield Import(line.first, name)
    for header in cython_source.headers(source):
        yield Import(1, f"<{header}>")


def _names(text: str) -> Iterator[str]:
    for part in text.strip("() \n").split(","):
        if part.strip():
            yield part.split()[0]
