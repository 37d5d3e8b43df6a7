"""Checks docstrings, comments and the page's English texts for the habits that CONTRIBUTING.md forbids.

It checks only how each text begins, and a few phrases. `python -m tests.kit.english` prints all faults.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
FOLDERS = ("src", "tests", "benchmarks", "ci", ".ci", "deploy", ".github")
FILES = ("Makefile", "pyproject.toml", "biome.jsonc", ".pre-commit-config.yaml")
FOREIGN = ("vendor", "__pycache__", "node_modules")
CATALOGUE = "src/svc/web/words/en/"

# Words that may begin a text only if it is a question.
_CLAUSE = re.compile(r"(What|Whatever|Who|Whoever|Whom|Whose|That)\b(?!.*\?$)")
_PHRASE = re.compile(
    r"\b(anew|beside which|by which|in whose|than that|any more|no more(?! than))\b", re.IGNORECASE
)
# The module `tokenize` would find the same comments, but would take fifteen times as long.
_STRING_OR_COMMENT = re.compile(
    r""""{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(#[^\n]*)""",
    re.DOTALL,
)
# The header of the Cython function whose docstring follows. It may span several lines.
_FUNCTION_HEADER = re.compile(
    r"""(?:@(\w+)[^\n]*\n)?[ \t]*(?:cp?def|def)\s+(?!class\b)[^\n:"(]*"""
    r"""\([^"()]*(?:\([^"()]*\)[^"()]*)*\)[^\n:"]*:\s*\Z"""
)
_MAX_HEADER_CHARACTERS = 1500

# Imperative verbs that may open a function's docstring. Add a verb when a docstring needs it.
VERBS = frozenset(
    """
    abandon abort accept account accumulate acknowledge acquire act activate add adjust admit adopt
    advance advertise aggregate alert allocate allow analyse announce answer append apply approve archive
    arm arrange ask assemble assert assign attach attack attempt authenticate authorise await back ban
    become bind block boot bound break bring broadcast buffer build bump bundle cache calculate call
    cancel cap capture change charge check choose classify clean clear click clip clone close collapse
    collect combine commit compare compete compile complete compose compress compute configure confirm
    connect consider construct consume continue convert copy correct count cover crash create credit crop
    cross cut debit decide declare decode decompress decrypt dedupe deduplicate defer define delay delete
    deliver demand demote deny derive describe deserialise destroy detach detect determine disable discard
    disconnect dismiss dispatch display distinguish distribute divide do doom double download drain draw
    drive drop dump duplicate edit eject emit empty enable encode encrypt end enforce enqueue ensure enter
    enumerate erase escape establish estimate evaluate evict examine exchange exclude execute exempt
    exercise exit expand expect expire explain export expose extend extract fail feed fetch fill filter
    find finish fit fix flag flatten flip flood flush fold follow force forge forget fork format forward
    free freeze gather generate get give go grant group grow guarantee guard guess hand handle hang hash
    have hear hide hold identify ignore import include increase increment index infer inflate inform
    inherit initialise inject insert inspect install intercept interpret interrupt intersect invalidate
    invite invoke iterate join judge keep kick kill label launch lay leave lend let lift limit link list
    listen load locate lock log look lose lower maintain make map mark mask match measure mention merge
    migrate mint mirror mix modify monitor move multiply mute name negotiate normalise note notice notify
    number observe obtain offer omit open order override overwrite pace pack pad parse pass paste patch
    pause peek perform persist pick pin ping place plan play plot poll pop populate post predict prefer
    prepare prepend press prevent print probe process produce promise promote prompt propagate protect
    prove provide prune publish pull purge push put query queue quit quote raise rank react read rebuild
    recalculate receive recognise recompute reconnect reconstruct record recover recreate recycle redeem
    redraw reduce refill refresh refuse register reject relay release reload remember remind remove rename
    render renew reopen reorder repair repeat replace replay reply report represent request require resend
    reserve reset reshape resize resolve respond restart restore restrict resume retire retrieve retry
    return reuse reverse revert revoke rewind rewrite ring roll rotate round route run sample satisfy save
    say scale scan schedule score scroll seal search seed seek select send separate serialise serve set
    settle shape share shed shift shorten show shrink shut sign silence simulate skip sleep slice smooth
    sniff solve sort spawn speak spend split spread stage stall start state stay step stop store stream
    stretch strip submit subscribe subtract succeed suggest sum summarise supply support suppress suspend
    swap sweep switch synchronise take talk tell terminate test throttle throw tick tie time touch trace
    track transcode transfer transform translate transmit traverse treat trigger trim truncate trust try
    tune turn type unblock unlink unmute unpack unpin unregister unseal unsubscribe unwrap update upgrade
    upload upsert use validate vanish verify visit wait wake walk warn watch weigh widen withdraw withhold
    work wrap write yield zero
    """.split()  # noqa: SIM905 (a list of 500 literals would take 500 lines)
)


@dataclass(frozen=True, slots=True)
class Fault:
    path: str
    line: int
    rule: str  # "clause", "imperative" or "phrase"
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    line: int
    text: str
    function: bool = False  # the docstring of a function that must begin with a verb


def text_faults(path: str, texts: Iterable[Text]) -> Iterator[Fault]:
    for text in texts:
        words = " ".join(text.text.split())
        if _CLAUSE.match(words):
            yield Fault(path, text.line, "clause", words)
        elif text.function and words.split(" ")[0].rstrip(".,:;").lower() not in VERBS:
            yield Fault(path, text.line, "imperative", words)
        if _PHRASE.search(words):
            yield Fault(path, text.line, "phrase", words)


def faults(root: Path = REPOSITORY, folders: Iterable[str] = FOLDERS) -> Iterator[Fault]:
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*"))]
    for path in [*paths, *(root / name for name in FILES)]:
        if set(path.parts) & set(FOREIGN) or not path.is_file():
            continue
        read = _READERS.get(path.suffix) or _READERS.get(path.name)
        name = path.relative_to(root).as_posix()
        if read is None and (path.suffix or not name.startswith(("ci/", ".ci/"))):
            continue
        source = path.read_text(encoding="utf-8")
        yield from text_faults(name, (read or hash_texts)(source))
        if name.startswith(CATALOGUE):
            yield from text_faults(name, catalogue_texts(source))


def python_texts(source: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield Text(node.body[0].lineno, docstring, _acts(node))
    comments = [
        (source.count("\n", 0, match.start()) + 1, match[1])
        for match in _STRING_OR_COMMENT.finditer(source)
        if match[1]
    ]
    yield from _blocks(comments, "#")


def _acts(node: ast.AST) -> bool:
    """Return whether a function's docstring must start with a verb. Properties and tests are exempt."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("test_"):
        return False
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return not any(name.endswith(("property", ".setter")) for name in decorators)


def cython_texts(source: str) -> Iterator[Text]:
    for match in re.finditer(r'"""(.*?)"""', source, re.DOTALL):
        start = max(0, match.start() - _MAX_HEADER_CHARACTERS)
        header = _FUNCTION_HEADER.search(source, start, match.start())
        acts = header is not None and header[1] != "property"
        yield Text(source.count("\n", 0, match.start()) + 1, match[1], acts)
    yield from hash_texts(source)


def script_texts(source: str) -> Iterator[Text]:
    yield from _block_comments(source, "/**")
    yield from _line_comments(source, "//")


def c_texts(source: str) -> Iterator[Text]:
    yield from _block_comments(source, "/*")
    yield from _line_comments(source, "//")


def hash_texts(source: str) -> Iterator[Text]:
    yield from _line_comments(source, "#")


def catalogue_texts(source: str) -> Iterator[Text]:
    """Return the texts that the page shows: whole messages, and the variants of those that have any."""
    for number, line in enumerate(source.splitlines(), 1):
        match = re.match(r"[a-z][\w-]* = (.*)|\s+\*?\[\w+\] (.*)", line)
        if match:
            yield Text(number, match[1] or match[2] or "")


def _block_comments(source: str, opening: str) -> Iterator[Text]:
    for match in re.finditer(rf"{re.escape(opening)}(.*?)\*/", source, re.DOTALL):
        yield Text(source.count("\n", 0, match.start()) + 1, match[1].replace("*", " "))


def _line_comments(source: str, mark: str) -> Iterator[Text]:
    """Return the comments that follow code or are on their own lines.

    A comment marker inside a word or a URL does not start a comment.
    """
    pattern = re.compile(rf"(?:^|\s){mark}+(?=\s)(.*)")
    matches = ((number, pattern.search(line)) for number, line in enumerate(source.splitlines(), 1))
    yield from _blocks([(number, mark + match[1]) for number, match in matches if match], mark)


def _blocks(comments: list[tuple[int, str]], mark: str) -> Iterator[Text]:
    """Join comments on consecutive lines."""
    block: list[str] = []
    first = last = 0
    for number, comment in comments:
        if block and number != last + 1:
            yield Text(first, " ".join(block))
            block = []
        first = first if block else number
        block.append(comment.lstrip(mark).strip())
        last = number
    if block:
        yield Text(first, " ".join(block))


_READERS: dict[str, Callable[[str], Iterator[Text]]] = {
    ".py": python_texts,
    **dict.fromkeys((".pyx", ".pxd"), cython_texts),
    **dict.fromkeys((".js", ".mjs", ".ts", ".jsonc"), script_texts),
    **dict.fromkeys((".c", ".h", ".css"), c_texts),
    ".sql": partial(_line_comments, mark="--"),
    **dict.fromkeys((".ftl", ".sh", ".toml", ".yml", ".yaml", ".conf", ".tpl"), hash_texts),
    **dict.fromkeys((".service", ".socket", ".sysusers", "Caddyfile", "Dockerfile", "Makefile"), hash_texts),
}


def main() -> None:
    """Print the faults in the folders on the command line, or in all folders."""
    for fault in faults():
        if fault.path.startswith(tuple(sys.argv[1:] or ("",))):
            print(f"{fault.path}:{fault.line}: {fault.rule}: {fault.text[:160]}")  # noqa: T201


if __name__ == "__main__":
    main()
