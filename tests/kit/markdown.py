"""Reads the tables in a Markdown document, for tests that compare documents with code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Row:
    heading: str  # the heading of the section that contains the table
    cells: tuple[str, ...]

    def code(self, column: int) -> list[str]:
        """Return the parts of a table cell that are between backquotes."""
        return _CODE.findall(self.cells[column])


def rows(document: Path, heading: str | None = None) -> list[Row]:
    """Return all table rows of a document or of one section, without the header rows."""
    return [row for row in _rows(document) if heading in (None, row.heading)]


def _rows(document: Path) -> Iterator[Row]:
    heading, body = "", False
    for line in document.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|"):
            body = False
        elif set(line) <= set("|-: "):
            body = True
        elif body:
            yield Row(heading, tuple(cell.strip() for cell in line.strip("|").split("|")))
