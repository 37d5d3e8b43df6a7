"""Parses an ES module as far as bundling requires: comments, imports and exports.

This is a tokenizer, not a full parser. It recognises strings, templates and regular expressions, so it finds
no comments or imports inside them. It raises an error for anything that it does not understand. For every
file of the web client, tests compare the result with that of a real parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<code>[^"'`/()\[\]{}]+)
    |(?P<bracket>[()\[\]{}])
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<slash>/)
    |(?P<template>`)""",
    re.VERBOSE | re.DOTALL,
)
# Matches a literal part of a template, from the template's start or an embedded expression to the next
# expression or the template's end.
_TEMPLATE = re.compile(r"[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_REGULAR = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_LAST_WORD = re.compile(r"[\w$#]+\Z")
# A slash after one of these words starts a regular expression. After any other word or a number, it is a
# division.
_BEFORE_REGULAR = re.compile(
    "return|typeof|instanceof|in|of|new|delete|void|throw|case|do|else|await|yield|default"
)
# Words that are followed by a condition in parentheses and a statement.
_CONDITIONS = frozenset({"if", "while", "for", "with"})
# Braces after one of these enclose a block. All other braces enclose an object.
_BEFORE_BLOCK = (")", ";", "{", "}", ">", "else", "do", "try", "finally")
_OPENING = "([{"
# Matches a semicolon at the end of a block. After a closing parenthesis or a colon, it may be an empty
# statement.
_NEEDLESS_SEMICOLON = re.compile(r"[\w$\]}\"'`];\s*\Z")
_SEPARATES_NOTHING = re.compile(r"[=(,:?&|![>]\Z")

# The tag of markup templates, where htm ignores the spaces around a line end.
_MARKUP_TAG = re.compile(r"(?<![\w$.])html\Z")
# Markers for an open markup template: outside a tag, and inside a tag.
_MARKUP, _TAG = "html`", "html`<"
_TAG_END = re.compile(r"([<>])")
_NEEDLESS_MARKUP_LINE_END = re.compile(r"(?<=>)\s*\n\s*|\s*\n\s*(?=/?>|<)")

_KEYWORD = re.compile(r"(?<![\w$.#])(import|export)(?![\w$]|\s*:)")
_LINE_END = re.compile(r"[ \t]*\n\s*")
# Matches line ends that do not end a statement, and trailing commas at the end of a line.
_NEEDLESS_LINE_END = re.compile(
    r"(?<=[;{,(\[=?:&|<>])\n|(?<=[\w$)\]}\"'`]),\n(?=[})\]])|\n(?=[})\].=?:&|<>])"
)
# Matches operators with the spaces around them. Excludes the slash, and also + and -, because removing the
# space in `+ +` would create a different operator.
_AROUND_SIGNS = re.compile(r" ?([=,:;?<>&|!*%]+) ?")
_CLAUSE = re.compile(r"\s*(?:(?:\{(?P<names>[^}]*)\}|\*\s*as\s+(?P<whole>[\w$]+))\s*from\s*)?")
_NAME = re.compile(r"([\w$]+)(?:\s+as\s+([\w$]+))?")
_TAKEN_APART = re.compile(r"\s+const\s*")
_TAKEN = re.compile(r"(?:[\w$]+\s*:\s*)?([\w$]+)")
_DECLARED = re.compile(r"\s+(?:const|class|(?:async\s+)?function\s*\*?)\s+([\w$]+)")


class UnsupportedSyntax(Exception):
    """The source contains syntax that this module does not support."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `kind` is the name of a group in the token pattern, or "regular", "keyword", "markup" or
    "tag".
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Import:
    """An import. `names` maps exported names to local ones. `whole` is the local name of a namespace
    import.
    """

    path: str
    names: dict[str, str] = field(default_factory=dict)
    whole: str = ""


@dataclass(frozen=True, slots=True)
class DynamicImport:
    """An `import(…)`.

    If `complete` is False, the path is only the first part of an expression. The rest follows in the code.
    """

    path: str
    quote: str
    complete: bool


class ImportMetaUrl:
    """An `import.meta.url`."""


Part = str | DynamicImport | ImportMetaUrl


@dataclass(slots=True)
class Module:
    """Code without imports, exports and comments. `exports` maps exported names to local names."""

    imports: list[Import] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)
    passed_on: list[Import] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


def tokens(source: str) -> Iterator[Token]:
    """Yield all tokens. `import` and `export` are keywords wherever they can start a statement."""
    position, last = 0, ""
    # The code before each open bracket, and the code before the most recently closed bracket.
    opened: list[str] = []
    before = ""
    while position < len(source):
        match = _TOKEN.match(source, position)
        kind, text = (str(match.lastgroup), match[0]) if match else ("", "")
        template = ""
        if text == "}" and opened and opened[-1] in ("`", _MARKUP, _TAG):
            template = opened.pop()
        elif kind == "template":
            template = _MARKUP if _MARKUP_TAG.search(last) else "`"
        if template:
            kind = {_MARKUP: "markup", _TAG: "tag"}.get(template, "template")
            text = _match(_TEMPLATE, source, position)
            if kind != "template" and (ends := _TAG_END.findall(text)):
                template = _TAG if ends[-1] == "<" else _MARKUP
            if text.endswith("{"):
                opened.append(template)
        elif kind == "slash" and _starts_regular(last, before):
            kind, text = "regular", _match(_REGULAR, source, position)
        elif kind == "bracket" and text in _OPENING:
            opened.append(last)
        elif kind == "bracket":
            if not opened:
                raise UnsupportedSyntax(f"line {_line(source, position)} closes a bracket that is not open")
            before = opened.pop()
        elif not kind:
            raise UnsupportedSyntax(f"line {_line(source, position)} starts a string that does not end")
        position += len(text)
        if kind != "code":
            yield Token(kind, text)
        elif "import" in text or (not opened and "export" in text):
            for number, piece in enumerate(_KEYWORD.split(text)):
                if piece:
                    yield Token("keyword" if number % 2 else "code", piece)
        else:
            yield Token(kind, text)
        if kind != "comment" and not text.isspace():
            last = '"' if kind in ("string", "regular") else text[-1:] if template else text.rstrip()
    if opened:
        raise UnsupportedSyntax("a bracket is not closed")


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1


def _match(pattern: re.Pattern[str], source: str, position: int) -> str:
    match = pattern.match(source, position)
    if match is None:
        raise UnsupportedSyntax(f"line {_line(source, position)} starts something that does not end")
    return match[0]


def _starts_regular(last: str, before: str) -> bool:
    """Return whether a slash here starts a regular expression rather than dividing a value."""
    word = _LAST_WORD.search(last)
    if word:
        return _BEFORE_REGULAR.fullmatch(word[0]) is not None
    if last == ")":
        word = _LAST_WORD.search(before)
        return word is not None and word[0] in _CONDITIONS
    if last == "}":
        return not before or before.endswith(_BEFORE_BLOCK)
    return not last.endswith(("]", '"', "`", ".", "++", "--"))


def read(source: str) -> Module:
    """Parse a module. Raises UnsupportedSyntax."""
    module = Module()
    waiting = list(tokens(source))[::-1]
    code: list[str] = []
    last = ""

    def put(part: Part) -> None:
        text = _NEEDLESS_LINE_END.sub("", _LINE_END.sub("\n", "".join(code)))
        if module.parts and str(module.parts[-1]).endswith("${"):
            text = text.lstrip("\n")
        module.parts.append(text.rstrip("\n") if str(part).startswith("}") else text)
        module.parts.append(part)
        code.clear()

    while waiting:
        token = waiting.pop()
        if token.kind == "comment":
            # Keep line ends in comments, because they can end statements. After an operator or an opening
            # bracket, a comment separates nothing.
            if "\n" in token.text:
                code.append("\n")
            elif _SEPARATES_NOTHING.search("".join(code[-2:])):
                continue
            else:
                code.append(" ")
        elif token.kind in ("markup", "tag"):
            put(_shorten(token.text, token.kind == "tag"))
        elif token.kind == "template" or "\\\n" in token.text:
            put(token.text)
        elif token.kind == "code":
            text = _AROUND_SIGNS.sub(r"\1", token.text)
            text = text.lstrip(" ") if last == "bracket" else text
            code.append(text.rstrip(" ") if waiting and waiting[-1].kind == "bracket" else text)
        elif token.kind != "keyword":
            if token.text == "}" and _NEEDLESS_SEMICOLON.search("".join(code[-2:])):
                code[-1] = code[-1].rstrip()[:-1]
            code.append(token.text)
        elif token.text == "export":
            _read_export(module, waiting)
        else:
            part = _read_import(module, waiting)
            if part:
                put(part)
        last = token.kind
    put("")
    return module


def _shorten(markup: str, in_tag: bool) -> str:
    """Remove whitespace around line ends in markup. Between attributes, leave one space, which compresses
    best.
    """
    parts = _TAG_END.split(_NEEDLESS_MARKUP_LINE_END.sub("", markup))
    for number, part in enumerate(parts):
        in_tag = part == "<" or (in_tag and part != ">")
        parts[number] = _LINE_END.sub(" " if in_tag else "\n", part)
    return "".join(parts)


def _read_import(module: Module, waiting: list[Token]) -> Part | None:
    """Parse an import. Return the part that replaces it in the code, or None for an import statement."""
    next_text = waiting[-1].text
    if next_text.startswith(".meta.url"):
        waiting[-1] = Token("code", next_text.removeprefix(".meta.url"))
        return ImportMetaUrl()
    if next_text == "(":
        waiting.pop()
        clause = waiting.pop()
        path = clause.text[1:].removesuffix("${").removesuffix(clause.text[0])
        complete = clause.kind == "string" and waiting[-1].text == ")"
        if complete:
            waiting.pop()
        elif clause.kind != "template":
            raise UnsupportedSyntax("import() of something other than a string")
        else:
            waiting.append(Token("template", clause.text[1 + len(path) :]))
        return DynamicImport(path, clause.text[0], complete)
    module.imports.append(_statement(waiting))
    return None


def _statement(waiting: list[Token]) -> Import:
    """Parse an import or export statement up to and including its path."""
    words = []
    while waiting and waiting[-1].kind != "string":
        words.append(waiting.pop())
    text = "".join(token.text for token in words if token.kind != "comment")
    clause = _CLAUSE.fullmatch(text)
    if clause is None or not waiting:
        raise UnsupportedSyntax(f"import or export{text[:100]}")
    path = waiting.pop().text[1:-1]
    _drop_semicolon(waiting)
    return Import(path, _names(clause["names"] or ""), clause["whole"] or "")


def _drop_semicolon(waiting: list[Token]) -> None:
    if waiting and waiting[-1].kind == "code":
        waiting.append(Token("code", waiting.pop().text.lstrip(" ").removeprefix(";")))


def _names(text: str) -> dict[str, str]:
    """Parse `a, b as c` into {"a": "a", "b": "c"}."""
    names = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name = _NAME.fullmatch(part)
        if name is None:
            raise UnsupportedSyntax(f"the name {part}")
        names[name[1]] = name[2] or name[1]
    return names


def _read_export(module: Module, waiting: list[Token]) -> None:
    """Parse an export. An exported declaration stays in the code without the keyword."""
    declared = _DECLARED.match(waiting[-1].text)
    if declared:
        module.exports[declared[1]] = declared[1]
        return
    if _TAKEN_APART.fullmatch(waiting[-1].text) and waiting[-2].text == "{":
        # export const { a, b: c } = …
        for part in filter(None, (part.strip() for part in waiting[-3].text.split(","))):
            taken = _TAKEN.fullmatch(part)
            if taken is None or waiting[-4].text != "}":
                raise UnsupportedSyntax(f"export const {{ {part}")
            module.exports[taken[1]] = taken[1]
        return
    words = list[Token]()
    while waiting and (not words or words[-1].text != "}"):
        words.append(waiting.pop())
    text = "".join(token.text for token in words if token.kind != "comment").strip()
    if not re.fullmatch(r"\{[^{}]*\}", text):
        raise UnsupportedSyntax(f"export {text[:100]}")
    if waiting and re.match(r"\s*from\b", waiting[-1].text):
        waiting += reversed(words)
        module.passed_on.append(_statement(waiting))
        return
    module.exports.update({outside: inside for inside, outside in _names(text[1:-1]).items()})
    _drop_semicolon(waiting)
