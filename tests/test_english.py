"""Checks that comments, docstrings and the web client's texts are in plain English and commit subjects are
short.

CONTRIBUTING.md contains the rules. `python -m tests.kit.english` prints the violations.
"""

import subprocess
from pathlib import Path

import pytest

from tests.kit import english

# The limit applies to commits after the last published commit with a longer subject.
FIRST_COMMIT_WITH_THE_RULE = "2026-11-28T08:50:00Z"
MAX_SUBJECT_CHARACTERS = 72


def test_comments_docstrings_and_client_texts_are_in_plain_english() -> None:
    assert [
        f"{fault.path}:{fault.line}: {fault.rule}: {fault.text[:100]}" for fault in english.faults()
    ] == []


def test_new_commit_subjects_fit_in_72_characters() -> None:
    command = ["git", "log", f"--since={FIRST_COMMIT_WITH_THE_RULE}", "--no-merges", "--format=%h %s"]
    log = subprocess.run(command, cwd=english.REPOSITORY, capture_output=True, text=True, check=False)
    if log.returncode:
        pytest.skip("this is not a git checkout")
    subjects = [line.partition(" ")[2] for line in log.stdout.splitlines()]
    assert [subject for subject in subjects if len(subject) > MAX_SUBJECT_CHARACTERS] == []


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        ('"""What a module does."""', ["clause"]),
        ('"""What does it do?"""', []),
        ("# Whoever asks gets nothing.\nx = 1", ["clause"]),
        ("# It is refused,\n# and that is all.\nx = 1", []),
        ("x = 1  # Whose it is.", ["clause"]),
        ("def f():\n    '''Return nothing.'''", []),
        ("def f():\n    '''The answer.'''", ["imperative"]),
        ("@property\ndef f(self):\n    '''The answer.'''", []),
        ("def test_f():\n    '''The answer.'''", []),
        ("class C:\n    '''The answer.'''", []),
        ("# It is made anew.\nx = 1", ["phrase"]),
        ("# It has no more than ten.\nx = 1", []),
        ("def f():\n    '''Who waits no more.'''", ["clause", "phrase"]),
    ],
)
def test_violations_in_python_are_found(source: str, rules: list[str]) -> None:
    assert [fault.rule for fault in english.text_faults("a.py", english.python_texts(source))] == rules


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1;  // Who asks\n// and why.", [1]),
        ("/** What\n * it is. */", [1]),
        ("\n/** Show it. */\nx('http://That');", []),
    ],
)
def test_violations_in_javascript_are_found(source: str, lines: list[int]) -> None:
    assert [fault.line for fault in english.text_faults("a.js", english.script_texts(source))] == lines


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        ('cdef int f(int x) noexcept:\n    """The answer."""', ["imperative"]),
        ('def f(self, list x=(1, 2),\n      int y=0):\n    """The answer."""', ["imperative"]),
        ('cpdef f():\n    """Return the answer."""', []),
        ('@property\ndef f(self):\n    """The answer."""', []),
        ('cdef class C(B):\n    """The answer."""', []),
        ('x = 1  # Who asks.\n"""The answer."""', ["clause"]),
    ],
)
def test_violations_in_cython_are_found(source: str, rules: list[str]) -> None:
    assert [fault.rule for fault in english.text_faults("a.pyx", english.cython_texts(source))] == rules


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("deploy/values.yaml", "# What is set:\n\na: 1  # It is made anew.\n", [1, 3]),
        ("deploy/svc.service", "[Unit]\n# Whoever asks.\n", [2]),
        ("deploy/Dockerfile", "# Whose it is.\n", [1]),
        ("ci/check", "#!/bin/sh\n# What is checked.\n", [2]),
        ("src/page.css", "/* What\n it is. */\n#who { }\n", [1]),
        ("src/a.sql", "-- Who asks.\nSELECT 1;\n", [1]),
        ("src/a.h", "/* What it is. */\nint x;  // Whose\n", [1, 2]),
        ("src/svc/web/words/de/a.ftl", "## What follows\na = That\n", [1]),
        (
            "src/svc/web/words/en/a.ftl",
            "a = Whoever asks.\nb = Who asks?\nc = { $x ->\n   *[y] Any more\n}\n",
            [1, 4],
        ),
    ],
)
def test_violations_are_found_in_every_kind_of_file(
    tmp_path: Path, path: str, source: str, lines: list[int]
) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(source, encoding="utf-8")
    assert [fault.line for fault in english.faults(tmp_path)] == lines
