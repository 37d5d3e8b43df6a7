"""Measures the source for `ci/metrics`: files, lines, functions and duplicates.

Functions of at least six lines count as duplicates if they differ only in names and constants.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

from tests.kit.architecture import import_cycles, read_edges

MIN_LINES_OF_A_SHAPE = 6
MAX_ARGUMENTS = 6
SMALL_FILE_LINES = 50
VENDOR = "vendor"  # Third-party code.

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Row:
    part: str
    files: int
    lines: int
    longest_line: int
    # the length of the longest chain of imports between the files and folders directly inside this part
    levels: int
    # the file or folder that most others in this part import, and the number of its importers
    most_imported: str
    median_file: float
    small_files: int
    functions: int
    median_function: float
    wide_constructors: int  # constructors with more than six arguments
    duplicate_shapes: int
    names_twice: int  # class names that occur more than once


def rows(source: Path) -> Iterator[Row]:
    """Yield a row for each folder in the package, a row for the page's modules, and a row for all Python
    code.
    """
    python = sorted(source.rglob("*.py"))
    package = source.name
    imports = [(edge.importer, edge.target) for edge in read_edges(source.parent, package)]
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        if inside := [path for path in python if folder in path.parents]:
            yield figures(folder.name, inside, siblings(imports, f"{package}.{folder.name}"))
    page = (path for path in (source / "web").rglob("*.js") if VENDOR not in path.parts)
    yield figures("web (JavaScript)", sorted(page), {})
    yield figures("all Python", python, siblings(imports, package))


def siblings(imports: list[tuple[str, str]], folder: str) -> dict[str, set[str]]:
    """Return the siblings that each file or folder in this folder imports."""
    names_by_folder: dict[str, set[str]] = {}
    inside = [pair for pair in imports if all(module.startswith(folder + ".") for module in pair)]
    for importer, target in inside:
        own, theirs = (module.removeprefix(folder + ".").split(".")[0] for module in (importer, target))
        if own != theirs:
            names_by_folder.setdefault(own, set()).add(theirs)
    return names_by_folder


def levels(imported: Mapping[str, set[str]]) -> int:
    """Return the length of the longest chain of imports."""
    heights: dict[str, int] = {}
    for child in TopologicalSorter(imported).static_order():
        heights[child] = 1 + max((heights[below] for below in imported.get(child, ())), default=0)
    return max(heights.values(), default=0)


def figures(part: str, paths: list[Path], imported: Mapping[str, set[str]]) -> Row:
    """Return the figures for one row. Figures that need Python's parser are 0 for JavaScript."""
    texts = [path.read_text(encoding="utf-8").splitlines() for path in paths]
    lengths = list(map(len, texts))
    importers = Counter(target for targets in imported.values() for target in targets)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths if path.suffix == ".py"]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, Function)]
    classes = Counter(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    shapes = Counter(shape(node) for node in functions if length(node) >= MIN_LINES_OF_A_SHAPE)
    return Row(
        part,
        len(paths),
        sum(lengths),
        max(len(line) for text in texts for line in text),
        levels(imported),
        "{} ({})".format(*importers.most_common(1)[0]) if importers else "",
        median(lengths),
        sum(lines < SMALL_FILE_LINES for lines in lengths),
        len(functions),
        median(length(node) for node in functions) if functions else 0,
        sum(node.name == "__init__" and arguments(node) > MAX_ARGUMENTS for node in functions),
        sum(count - 1 for count in shapes.values()),
        sum(count > 1 for count in classes.values()),
    )


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def arguments(function: Function) -> int:
    """Count a function's arguments without `self`."""
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) - 1


def shape(function: Function) -> str:
    """Describe a function's structure without its names."""
    return " ".join(type(node).__name__ for statement in function.body for node in ast.walk(statement))


def table(metrics_rows: list[Row]) -> str:
    heads: Mapping[str, str] = {
        "part": "",
        "files": "files",
        "lines": "lines",
        "longest_line": "longest line",
        "levels": "import levels",
        "most_imported": "most imported",
        "median_file": "median file",
        "small_files": f"< {SMALL_FILE_LINES} lines",
        "functions": "functions",
        "median_function": "median function",
        "wide_constructors": f"constructors > {MAX_ARGUMENTS} arguments",
        "duplicate_shapes": "duplicate shapes",
        "names_twice": "class names twice",
    }
    cells = [list(heads.values()), *([f"{getattr(row, name)}" for name in heads] for row in metrics_rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = (
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in cells
    )
    return "\n".join(lines)


if __name__ == "__main__":
    cycles = import_cycles([*read_edges(Path("src"), "svc")], "svc")
    sys.stdout.write(f"{table(list(rows(Path('src/svc'))))}\nimport cycles: {len(cycles)}\n")
