"""Tests that the vendored libraries are exactly as `ci/vendor` generated them, each with its licence."""

import hashlib
import json
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
VENDOR = REPOSITORY / "src" / "svc" / "web" / "vendor"


def programs() -> list[Path]:
    return sorted([*VENDOR.rglob("*.js"), *VENDOR.rglob("*.wasm"), *VENDOR.rglob("*.woff2")])


def made_of(path: Path) -> list[str]:
    """Return the packages that a file was built from."""
    contents: dict[str, list[str]] = json.loads((VENDOR / "contents.json").read_text())
    name = path.relative_to(VENDOR)
    return [package for pattern, packages in contents.items() if name.match(pattern) for package in packages]


def test_every_file_has_its_recorded_hash() -> None:
    lines = (VENDOR / "sha256sums.txt").read_text().splitlines()
    expected = {name.removeprefix("./"): digest for digest, name in (line.split() for line in lines)}
    hashes = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in programs()
    }
    assert hashes == expected


def test_every_file_contains_the_licences_of_its_packages() -> None:
    versions = json.loads((VENDOR / "versions.json").read_text())
    for path in programs():
        packages = made_of(path)
        assert packages, path.name
        for package in packages:
            licence = VENDOR / "licences" / f"{package.replace('@', '').replace('/', '-')}.txt"
            assert package in versions
            assert licence.read_text().strip(), licence


def test_the_vendored_versions_are_those_in_vendor_json() -> None:
    wanted = json.loads((REPOSITORY / "ci" / "vendor.json").read_text())["dependencies"]
    assert json.loads((VENDOR / "versions.json").read_text()) == wanted


def test_no_file_loads_anything_from_another_site() -> None:
    for path in programs():
        text = path.read_text(errors="replace")
        assert "eval(" not in text, path.name
        assert "new Function" not in text, path.name
        assert 'from"http' not in text, path.name
