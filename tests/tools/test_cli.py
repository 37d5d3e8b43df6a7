"""Tests the subcommands and the error messages of the `svc` command."""

import argparse
from collections.abc import Iterator
from importlib.metadata import version

import pytest

from svc.cli import main, parser
from svc.tools.admin.arguments import SUBJECTS, WHOLE


def test_the_version_is_the_package_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"svc {version('svc-server')}\n")


@pytest.mark.parametrize(
    ("arguments", "variables", "line"),
    [
        (
            ["chat"],
            {"JWT_SECRET": ""},
            "svc chat: JWT_SECRET must be set: access tokens are signed with it. "
            "Make one with: openssl rand -hex 32",
        ),
        (
            ["chat"],
            {"JWT_SECRET": "hunter2"},
            "svc chat: JWT_SECRET has 7 bytes and needs at least 32. Make one with: openssl rand -hex 32",
        ),
        (["sfu"], {"MAX_PEERS": "many"}, "svc sfu: MAX_PEERS must be a whole number, not 'many'"),
    ],
)
def test_an_operator_error_is_reported_on_one_line(
    arguments: list[str],
    variables: dict[str, str],
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(arguments) == 2
    assert capsys.readouterr().err == line + "\n"


@pytest.mark.parametrize("arguments", [[], ["dance"], ["up", "--port", "70000"], ["up", "--port", "x"]])
def test_an_invalid_command_line_exits_with_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: svc" in capsys.readouterr().err


def test_help_lists_and_describes_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["admin", "--help"])
    shown = capsys.readouterr().out
    assert {"channel", "invite", "webhook", "bot", "member", "application"} <= set(SUBJECTS)
    assert set(WHOLE) == {"backup", "restore", "export", "import"}
    summaries = {name: subject.help for name, subject in SUBJECTS.items()}
    for name, help in (summaries | {name: help for name, (help, _) in WHOLE.items()}).items():
        assert f"\n    {name}" in shown and help in shown
        with pytest.raises(SystemExit):
            main(["admin", name, "--help"])
        assert f"\n\n{help[0].upper()}{help[1:]}" in capsys.readouterr().out


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_without_an_action_runs_its_show_action(
    subject: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", subject, "--data-dir", "/a folder without a server"]) == 2
    assert "no server has run in /a folder without a server" in capsys.readouterr().err


def _commands(above: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield every command that performs an action, at any depth of subcommands."""
    rows = [action for action in above._actions if isinstance(action, argparse._SubParsersAction)]
    for row in rows:
        for below in row.choices.values():
            yield from _commands(below)
    if not rows:
        yield above


def test_every_admin_command_can_print_json() -> None:
    commands = [command for command in _commands(parser()) if command.prog.startswith("svc admin ")]
    assert len(commands) == sum(len(subject.actions) for subject in SUBJECTS.values()) + len(WHOLE)
    assert [command.prog for command in commands if "--json" not in command._option_string_actions] == []
