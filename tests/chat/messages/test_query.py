"""Search queries are parsed or rejected. Their text is never passed to the search engine as syntax."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.errors import ChatError
from svc.chat.messages.query import MAX_TERMS, EngineQuery, Query, parse
from svc.chat.messages.search_words import indexed_words, phrase

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("hello", Query(phrases=("hello",), begun="hello")),
        ("hello world", Query(phrases=("hello", "world"), begun="world")),
        ("hello from:ada", Query(phrases=("hello",), begun="hello", from_names=("ada",))),
        ('"hello world" x', Query(phrases=("hello world", "x"), begun="x")),
        ('hello "world"', Query(phrases=("hello", "world"))),
        ("from:ada hi", Query(phrases=("hi",), begun="hi", from_names=("ada",))),
        ('FROM:"Ada Lovelace"', Query(from_names=("Ada Lovelace",))),
        ("in:general in:news", Query(in_names=("general", "news"))),
        ("before:1970-01-03", Query(before_ms=2 * DAY_MS)),
        ("after:1970-01-03", Query(after_ms=3 * DAY_MS)),
        ("before:1970-01-03T00:00+01:00", Query(before_ms=2 * DAY_MS - 3_600_000)),
        ("after:1970-01-03T00:00+01:00", Query(after_ms=2 * DAY_MS - 3_600_000)),
        ("before:1970-01-03 before:1970-01-02", Query(before_ms=DAY_MS)),
        ("has:link has:PIN", Query(has=frozenset({"link", "pin"}))),
        ("http://example.org", Query(phrases=("http //example.org",), begun="http //example.org")),
        ('a " b', Query(phrases=("a", "b"), begun="b")),
        ("x ++ !!", Query(phrases=("x",))),
        ("NEAR(a b) AND NOT c*", Query(phrases=("NEAR(a", "b)", "AND", "NOT", "c*"), begun="c*")),
        ("tea -milk", Query(phrases=("tea",), begun="tea", no_phrases=("milk",))),
        ('-"hot milk" -from:ada', Query(no_phrases=("hot milk",), not_from=("ada",))),
        ("-in:news -has:link", Query(not_in=("news",), has_no=frozenset({"link"}))),
        ("well-known --verbose", Query(phrases=("well-known", "--verbose"), begun="--verbose")),
    ],
)
def test_valid_queries_are_parsed(text: str, query: Query) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "!!! ??", "has:nothing", "-has:nothing", "before:yesterday", "after:2024-13-01"),
        *("before:2024-01-01T00:00", "before:2024-01-01T25:00Z", "after:２０２４-01-01"),
        *("-before:2024-01-01", "x -after:2024-01-01", "x" * 257, "字" * (2 * MAX_TERMS + 3)),
        *(" ".join("abcdefghijklmnopq"), "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 10),
    ],
)
def test_invalid_search_queries_are_rejected(text: str) -> None:
    with pytest.raises(ChatError, match="invalid_query"):
        parse(text)


class Index:
    """A search index of some messages, numbered from 1, in the channel `ca`."""

    def __init__(self, *messages: str) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (text, tags, content = '',"
            " tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co'\")"
        )
        for text in messages:
            self._connection.execute(
                "INSERT INTO words (text, tags) VALUES (?, 'ca')", (indexed_words(text),)
            )

    def find(self, typed: str) -> list[int]:
        query = parse(typed)
        phrases = [phrase(text, begun=text == query.begun) for text in query.phrases]
        sought = EngineQuery(phrases, [["ca", "cb"]], [phrase(text) for text in query.no_phrases])
        spelled = sought.to_fts5(sought.beginnings())
        rows = self._connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (spelled,))
        return sorted(row[0] for row in rows)

    def close(self) -> None:
        self._connection.close()


@pytest.mark.parametrize(
    ("typed", "finds"),
    [
        ("hel", {"hello world", "help yourself", "Hélène"}),
        ("hele", {"Hélène"}),
        ("HÉL", {"hello world", "help yourself", "Hélène"}),
        ("hel -hello", {"help yourself", "Hélène"}),
        ("hel world", set()),
        ('"hel"', set()),
        ("h", set()),
        (
            "-hello -help",
            {"Hélène", "iPhone修理します", "東京都に住む", "京都です", "ﾃｽﾄ", "학교에서 만나요", "人"},
        ),
        ("東京", {"東京都に住む"}),
        ("京都", {"東京都に住む", "京都です"}),
        ("東京都に住", {"東京都に住む"}),
        ("都", {"東京都に住む", "京都です"}),
        ("む", {"東京都に住む"}),
        ("人", {"人"}),
        ("東都", set()),
        ("京都 -東京", {"京都です"}),
        ('"京都 です"', set()),
        ("iphone 修理", {"iPhone修理します"}),
        ("iPhone修", {"iPhone修理します"}),
        ("テスト", {"ﾃｽﾄ"}),
        ("ｈｅｌｌｏ", {"hello world"}),
        ("학교", {"학교에서 만나요"}),
    ],
)
def test_queries_find_the_expected_messages(typed: str, finds: set[str]) -> None:
    messages = (
        *("hello world", "help yourself", "Hélène", "iPhone修理します", "東京都に住む", "京都です", "ﾃｽﾄ"),
        *("학교에서 만나요", "人"),
    )
    index = Index(*messages)
    assert {messages[number - 1] for number in index.find(typed)} == finds
    index.close()


@pytest.mark.parametrize(
    ("message", "found_by", "not_by"),
    [
        ("версия Ёлка", ["елка", "ёлка", "ЕЛК"], ["лка"]),
        ("мой край", ["мой", "МОЙ"], ["мои"]),
        ("їжак", ["їжак"], ["іжак"]),
        ("ΟΔΟΣ Ἀθῆναι", ["οδος", "οδοσ", "αθηναι", "Αθήναι"], ["θηναι"]),
        ("كِتَابٌ كـــبير", ["كتاب", "كبير", "كِتاب"], ["كتب"]),
        ("أحمد می\u200cخواهم", ["احمد", "خواهم", "مي خواهم"], ["خو\u200cاهم"]),
        ("שָׁלוֹם", ["שלום", "שָׁלום"], ["שלם"]),
        ("Straße GROẞ ŒUVRE Łódź", ["strasse", "STRASSE", "gross", "oeuvre", "lodz"], ["strase"]),
        ("İstanbul ISPARTA", ["istanbul", "ısparta", "isparta"], []),
        ("so\u00adft ᾳδω", ["soft", "αδω"], []),
        ("हिन्दी", ["हिन्दी", "हिन्"], ["हन्दी"]),
        ("ภาษาไทยไม่มีช่องว่างระหว่างคำ", ["ไทย", "ภาษา", "ช่องว่าง", "ไ", "ภาษาไทย ระหว่าง"], ["ยไท"]),
        ("ພາສາລາວບໍ່ມີ", ["ລາວ", "ມີ"], ["ວລາ"]),
        ("ភាសាខ្មែរ ဗမာစကား", ["ខ្មែរ", "စကား"], []),
        ("party 🎉🎉", ["🎉", "party 🎉", '"party 🎉"'], ["🎈", '"🎉 party"']),
        ("I ❤️ it, 👍🏽", ["❤", "❤️", "👍", "👍🏽"], ["👍🏿", "🧡"]),
        ("👩‍🚀 1️⃣ 🫨", ["👩‍🚀", "🚀", "1️⃣", "🫨"], ["🚀‍👩", "2️⃣"]),
        ("🇦🇩🇪🇸 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ["🇦🇩", "🇪🇸"], ["🇩🇪", "🏴"]),
        ("™ 20°C ® text", ["20°C", "c", '"20 c"', "tm"], []),
    ],
)
def test_searches_ignore_case_accents_and_script_variants(
    message: str, found_by: list[str], not_by: list[str]
) -> None:
    index = Index(message)
    assert [typed for typed in found_by if index.find(typed) != [1]] == []
    assert [typed for typed in not_by if index.find(typed) == [1]] == []
    index.close()


@given(st.text(alphabet="東京都あア한a ", min_size=1, max_size=12), st.data())
def test_any_part_of_text_without_spaces_can_be_found(text: str, data: st.DataObject) -> None:
    runs = [run for run in text.replace("a", " ").split() if run]
    if not runs:
        return
    run = data.draw(st.sampled_from(runs))
    start = data.draw(st.integers(0, len(run) - 1))
    index = Index(text)
    assert index.find(run[start : data.draw(st.integers(start + 1, len(run)))]) == [1]
    index.close()


@given(st.text(max_size=100))
def test_sqlite_accepts_every_parsed_query(text: str) -> None:
    index = Index()
    try:
        assert index.find(text) == []
    except ChatError as refused:
        assert refused.code == "invalid_query"
    index.close()
