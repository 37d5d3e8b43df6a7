"""Checks a source tree against a table of layers and finds import cycles.

The table itself is in `tests.test_layers`.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.kit.imports import Import, read_imports

SUFFIXES = (".py", ".pyx", ".pxd")
# Cython's own libraries, which can be cimported like standard library modules.
CYTHON_LIBRARIES = frozenset({"cython", "cpython", "libc", "libcpp", "posix"})


@dataclass(frozen=True, slots=True)
class Never:
    """A rule: modules that match `importers`, except those in `but`, must not import modules that match
    `targets`.
    """

    importers: str
    targets: tuple[str, ...]
    but: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Architecture:
    package: str
    layers: Mapping[str, frozenset[str]]  # each layer, and the other layers that it may import
    libraries: Mapping[str, tuple[str, ...]]  # each third-party library, and the modules that may use it
    rules: tuple[Never, ...] = ()
    private: tuple[str, ...] = ()  # modules that only their own folder may import
    # The layers inside a folder, highest first. Each layer has a name, and a list of files and folders.
    inner: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    location: str  # file:line
    importer: str
    target: str


def violations(source_root: Path, architecture: Architecture) -> list[str]:
    """Describe every import below `source_root` that breaks the rules of the architecture."""
    edges = list(dict.fromkeys(read_edges(source_root, architecture.package)))
    broken = [f"{edge.location}: {problem}" for edge in edges for problem in _problems(edge, architecture)]
    return broken + import_cycles(edges, architecture.package)


def source_files(source_root: Path, package: str) -> list[Path]:
    return sorted(path for path in (source_root / package).rglob("*") if path.suffix in SUFFIXES)


def read_edges(source_root: Path, package: str) -> Iterator[Edge]:
    files = source_files(source_root, package)
    modules = {_module(path, source_root) for path in files}
    for path in files:
        importer = _module(path, source_root)
        for imported in read_imports(path):
            location = f"{path.relative_to(source_root).as_posix()}:{imported.line}"
            yield Edge(location, importer, _target(imported, modules))


def _module(path: Path, source_root: Path) -> str:
    parts = path.relative_to(source_root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _target(imported: Import, modules: set[str]) -> str:
    whole = f"{imported.module}.{imported.name}"
    return whole if imported.name and whole in modules else imported.module


def _problems(edge: Edge, architecture: Architecture) -> Iterator[str]:
    target, root = edge.target, edge.target.split(".")[0]
    if target.startswith("."):
        yield "a relative import"
    elif target == "include":
        yield "a textual include"
    elif root == architecture.package:
        yield from _layer_problems(edge, architecture)
        yield from _inner_problems(edge, architecture)
    elif _third_party(target) and not _matches(edge.importer, architecture.libraries.get(root, ())):
        yield f"{edge.importer} may not use {root}"
    if _matches(target, architecture.private) and not _at_home(edge):
        yield f"{edge.importer} may not import {target}, which is private to its folder"
    for rule in architecture.rules:
        concerned = _within(edge.importer, rule.importers) and not _matches(edge.importer, rule.but)
        if concerned and _matches(target, rule.targets):
            yield f"{edge.importer} may not import {target}"


def _third_party(target: str) -> bool:
    return (
        not target.startswith("<") and target.split(".")[0] not in sys.stdlib_module_names | CYTHON_LIBRARIES
    )


def _layer_problems(edge: Edge, architecture: Architecture) -> Iterator[str]:
    own, theirs = _layer(edge.importer), _layer(edge.target)
    if own == theirs or edge.target == architecture.package:
        return
    if own not in architecture.layers or theirs not in architecture.layers:
        yield f"{own if own not in architecture.layers else theirs} has no place in the layer table"
    elif theirs not in architecture.layers[own]:
        yield f"{own} may not import {theirs} ({edge.target})"


def _inner_problems(edge: Edge, architecture: Architecture) -> Iterator[str]:
    """Describe an import of a higher layer inside a folder."""
    for folder, layers in architecture.inner.items():
        if not (_inside(edge.importer, folder) and _inside(edge.target, folder)):
            continue
        height = {child: rank for rank, children in enumerate(layers.values()) for child in children}
        own, theirs = _child(edge.importer, folder), _child(edge.target, folder)
        if own not in height or theirs not in height:
            yield f"{own if own not in height else theirs} has no layer in {folder}"
        elif height[theirs] < height[own]:
            yield f"{own} may not import {theirs}, which is in a higher layer of {folder}"


def _layer(module: str) -> str:
    """Return the top-level file or folder of the package that contains this module."""
    return module.split(".")[1] if "." in module else module


def _at_home(edge: Edge) -> bool:
    return _inside(edge.importer, edge.target.rpartition(".")[0])


def _within(module: str, pattern: str) -> bool:
    return fnmatchcase(module, pattern) or fnmatchcase(module, pattern + ".*")


def _matches(module: str, patterns: Iterable[str]) -> bool:
    return any(_within(module, pattern) for pattern in patterns)


def import_cycles(edges: list[Edge], package: str) -> list[str]:
    """Find import cycles between files, and between the files and folders in the same folder."""
    inner = [(edge.importer, edge.target) for edge in edges if edge.target.split(".")[0] == package]
    cycles = list(_cycle("files", inner))
    for folder in sorted(_folders(importer for importer, _ in inner)):
        siblings = [
            (_child(importer, folder), _child(target, folder))
            for importer, target in inner
            if _inside(importer, folder) and _inside(target, folder)
        ]
        cycles += _cycle(f"folders in {folder}", siblings)
    return cycles


def _folders(modules: Iterable[str]) -> set[str]:
    return {module.rsplit(".", depth)[0] for module in modules for depth in range(1, module.count(".") + 1)}


def _cycle(what: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for importer, target in pairs:
        if importer != target:
            sorter.add(importer, target)
    try:
        sorter.prepare()
    except CycleError as error:
        yield f"an import cycle of {what}: {' is imported by '.join(error.args[1])}"


def _inside(module: str, folder: str) -> bool:
    return module.startswith(folder + ".")


def _child(module: str, folder: str) -> str:
    return module.removeprefix(folder + ".").split(".")[0]
