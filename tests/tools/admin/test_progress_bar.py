"""The progress bar is shown only on a terminal and is erased at the end."""

import io

import pytest

from svc.base.progress import Progress
from svc.tools.admin.progress_bar import line, show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (Progress("files", 0, 10), "files        [..............................]   0%"),
        (Progress("files", 5, 10), "files        [###############...............]  50%"),
        (Progress("files", 10, 10), "files        [##############################] 100%"),
        (Progress("files", 11, 10), "files        [##############################] 100%"),
        (Progress("files", 0, 0), "files        [..............................]   0%"),
    ],
)
def test_the_bar_shows_the_progress(progress: Progress, expected: str) -> None:
    assert line(progress) == expected


def test_on_a_terminal_the_bar_redraws_and_erases_itself() -> None:
    screen = Terminal()
    with show_progress(screen) as listener:
        listener(Progress("database", 1, 2))
        listener(Progress("files", 1, 2))
    first, second, last = screen.getvalue().split("\r\033[K")[1:]
    assert (first, second, last) == (line(Progress("database", 1, 2)), line(Progress("files", 1, 2)), "")


def test_no_bar_is_written_if_standard_error_is_not_a_terminal() -> None:
    screen = io.StringIO()
    with show_progress(screen) as listener:
        listener(Progress("files", 1, 2))
    assert screen.getvalue() == ""
