"""Problems that fuzzing once found stay fixed, and every target accepts its initial inputs.

`ci/fuzz` looks for new problems. Each problem's input is stored as `regressions/<target>/<description>`.
"""

from importlib import import_module
from pathlib import Path

import pytest

from tests.fuzz.seeds import SEEDS

FOLDER = Path(__file__).parent
TARGETS = sorted(path.stem for path in (FOLDER / "targets").glob("*.py"))
FINDINGS = sorted((FOLDER / "regressions").glob("*/*"))


def test_every_target_has_seeds() -> None:
    assert sorted(SEEDS) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_the_target_accepts_every_seed(target: str) -> None:
    run = import_module(f"tests.fuzz.targets.{target}").run
    for seed in SEEDS[target]():
        run(seed)


@pytest.mark.parametrize("target", TARGETS)
def test_problems_that_fuzzing_found_stay_fixed(target: str) -> None:
    run = import_module(f"tests.fuzz.targets.{target}").run
    for finding in FINDINGS:
        if finding.parent.name == target:
            run(finding.read_bytes())


def test_every_stored_problem_belongs_to_a_target() -> None:
    assert {finding.parent.name for finding in FINDINGS} <= set(TARGETS)
