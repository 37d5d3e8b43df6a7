"""File names keep only the invisible characters that scripts and emoji need."""

import pytest

from svc.chat.uploads.file_names import MAX_NAME_CHARACTERS, readable_file_name

FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    "name",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.txt",
        "PDF\u200c\u0647\u0627.txt",  # Persian for "PDFs".
        "\u0d28\u0d4d\u200d.pdf",
        "\u0915\u094d\u200d\u0937.txt",
        "\U0001f469\u200d\U0001f680 \U0001faea \U0001fbff.md",
        "\U0001f642\u200d\u2194\ufe0f \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 \u203c\ufe0f.md",
        f"{FLAG} 2\u20130.txt",
        "\u845b\U000e0100\u98fe.txt",  # A variant of an ideograph, as used in a family name.
        "\u1826\u180b.txt",
        "\u0601\u0662\u0663.txt",
        "cafe\u0301.txt",
    ],
)
def test_file_names_keep_the_invisible_characters_that_scripts_and_emoji_need(name: str) -> None:
    assert readable_file_name(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u5e74\u3000\u5831\u544a\u202f1.txt", "\u5e74 \u5831\u544a 1.txt"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("a\u2066b\u2069\u200f\u200b\ufeff\u00ad\x07.txt", "ab.txt"),
        ("\u200d\u200c", "file"),
        # Tags outside a flag, and tags in an incomplete flag.
        ("a\U000e0061\U000e0062\U000e007f.txt", "a.txt"),
        ("\U0001f3f4\U000e0067\U000e0062.txt", "\U0001f3f4.txt"),
        ("\U0001f3f3\U000e0067\U000e0062\U000e007f.txt", "\U0001f3f3.txt"),
        (f"{FLAG}\U000e0067.txt", f"{FLAG}.txt"),
        # Joiners without effect, and variation selectors after a character without variants.
        ("in\u200dvoice\u200c.pdf", "invoice.pdf"),
        ("\u0645\u200c\u200c\u200d\u062e.txt", "\u0645\u200c\u062e.txt"),
        ("invoice\ufe00\ufe0f.pdf\U000e0101", "invoice.pdf"),
        ("\u2764\ufe0f\ufe0f\ufe0e.md", "\u2764\ufe0f.md"),
        # Letters and symbols without a visible glyph.
        ("a.pdf\u2800\u2800\u3164\uffa0.exe", "a.pdf .exe"),
        ("a\u034f\u115f\u1160\u17b4\u17b5b.txt", "ab.txt"),
        ("\u3164\u2800", "file"),
        # Truncation, which keeps the end of the name, may split a flag.
        (f"{FLAG}{'x' * (MAX_NAME_CHARACTERS - 3)}", "x" * (MAX_NAME_CHARACTERS - 3)),
    ],
)
def test_characters_that_reorder_or_hide_text_are_stripped_from_file_names(name: str, shown: str) -> None:
    assert readable_file_name(name) == shown
