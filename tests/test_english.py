"""Docstrings and comments are in plain English, and commit subjects fit in one line.

CONTRIBUTING.md has the rules, and `python -m tests.kit.english` prints the faults.
"""

import subprocess

import pytest

from tests.kit import english

# The limit applies from this commit on. Earlier commits may have longer subjects.
FIRST_COMMIT_WITH_THE_RULE = "2026-11-28T08:00:00Z"
MAX_SUBJECT_CHARACTERS = 72
# These were published by mistake, and published history cannot be changed.
LONG_SUBJECTS = [
    "Send cameras as wide as they are shown, and pause what a line cannot carry",
]


def test_docstrings_and_comments_are_in_plain_english() -> None:
    assert [
        f"{fault.path}:{fault.line}: {fault.rule}: {fault.text[:100]}" for fault in english.faults()
    ] == []


def test_new_commit_subjects_fit_in_72_characters() -> None:
    command = ["git", "log", f"--since={FIRST_COMMIT_WITH_THE_RULE}", "--no-merges", "--format=%h %s"]
    log = subprocess.run(command, cwd=english.REPOSITORY, capture_output=True, text=True, check=False)
    if log.returncode:
        pytest.skip("this is not a git checkout")
    subjects = [line.partition(" ")[2] for line in log.stdout.splitlines()]
    long = {subject for subject in subjects if len(subject) > MAX_SUBJECT_CHARACTERS}
    assert long - set(LONG_SUBJECTS) == set()


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
def test_python_faults_are_found(source: str, rules: list[str]) -> None:
    assert [fault.rule for fault in english.text_faults("a.py", english.python_texts(source))] == rules


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1;  // Who asks\n// and why.", [1]),
        ("/** What\n * it is. */", [1]),
        ("\n/** Show it. */\nx('http://That');", []),
    ],
)
def test_script_faults_are_found(source: str, lines: list[int]) -> None:
    assert [fault.line for fault in english.text_faults("a.js", english.script_texts(source))] == lines
