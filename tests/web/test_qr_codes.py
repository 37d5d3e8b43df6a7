"""Tests that QR codes are readable, and that codes filled to capacity are identical to another library's."""

import json
import subprocess
from typing import Any

import numpy
import pytest
import segno
import zxingcpp

from svc.chat.pages.routes import WEB_FOLDER
from tests.kit.packages import NODE

MODULE = (WEB_FOLDER / "views" / "parts" / "qr_code.js").as_uri()
# The text length that fills each version to capacity. Libraries pad shorter texts differently.
FULL = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]
MARGIN, MAGNIFIED = 4, 6


def drawn(text: str, mask: int | None) -> Any:
    script = f'import {{ qrMatrix }} from "{MODULE}";'
    script += "console.log(JSON.stringify(qrMatrix(...JSON.parse(process.argv[1]))));"
    command = [NODE, "--input-type=module", "-e", script, json.dumps([text, mask])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def address(length: int) -> str:
    return "https://chat.example/#invite=".ljust(length, "k")[:length]


@pytest.mark.parametrize("version", range(1, 11))
def test_a_code_filled_to_capacity_is_identical_to_one_from_another_library(version: int) -> None:
    text, mask = address(FULL[version - 1]), version % 8
    code = segno.make(text, error="m", mode="byte", mask=mask, boost_error=False, micro=False)
    assert drawn(text, mask) == [[bool(square) for square in row] for row in code.matrix]


@pytest.mark.parametrize("text", ["svc", address(40), address(71), address(130), "https://chat.example/ä/😀"])
def test_a_qr_code_can_be_read(text: str) -> None:
    squares = numpy.pad(numpy.array(drawn(text, None), dtype=bool), MARGIN)
    picture = numpy.where(numpy.kron(squares, numpy.ones((MAGNIFIED, MAGNIFIED), dtype=bool)), 0, 255)
    [code] = zxingcpp.read_barcodes(picture.astype(numpy.uint8))
    assert code.text == text


def test_no_qr_code_is_generated_for_text_that_is_too_long() -> None:
    assert drawn("x" * 214, None) is None
