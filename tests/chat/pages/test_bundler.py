"""Bundling the web client's modules preserves their meaning.

A real parser compares each module before and after bundling, and Node runs a small program both bundled and
unbundled. All browser tests use bundled modules, too.
"""

import asyncio
import json
from pathlib import Path

import pytest

from svc.chat.pages.bundler import FIRST, LATER, bundle, merged_files
from svc.chat.pages.javascript import DynamicImport, Part, UnsupportedSyntax, read, tokens
from svc.chat.pages.routes import WEB_FOLDER
from tests.kit.packages import NODE

HERE = Path(__file__).parent
TIMEOUT_S = 120
# Slashes for division, comments and regular expressions, and code that merely looks like a comment.
HARD = r"""
const a = 1 / 2 / 3, url = "https://example.org/*", other = 'it\'s // no comment';
const long = "a\
   b // still a string";
const plain = /[/*"'`]\/\/+/gu.test("x") ? /a/ : a / 2;
const halves = [1, 2].map((each) => each / 2).length / 1. / 2;
function f(x) { if (x) /b"/.test(x); while (!x) /c'/.exec(x); return /d`/.test(x) / 2; }
const object = { import: 1, export: 2, of: 4 }, quotient = object.of / object.import / 2;
{ const inner = 3; } /e"/.test("");
let count = 1; const quotient2 = count++ / 2 /* a comment " */ / 3;
const template = `a // no comment ${ `inner ${ { a: "}" }.a } /* ${ 1 /* yes */ + 1 } */` } "b`;
const multiline = `
    keeps   its indentation // and this
`;
const markup = html`<p
  class=${ "a" }
  ...${ template }
>
  text  <b /> and
  ${ html`<i>inner </i>` }${ [1, , ] }
  ${
    next &&
    f(
      1,
    )
  }
</p>`;
class Private { #a = 1; get b() { return this.#a / 2; } } // a comment
const noSemicolon = 1 // the line's end stays
const next = noSemicolon
/* a comment
   of two lines */ const after = a
/** @type {import("./x.js").Y} */
const last = a <!--b
;
""".replace(" <!--b", "")


async def run(*command: str, given: str = "") -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        NODE, *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(TIMEOUT_S):
        output, problems = await process.communicate(given.encode())
    assert process.returncode == 0, problems.decode()
    return output.decode()


def rest_of(source: str) -> str:
    """Return a module's code without comments, indentation, imports and exports."""

    def text(part: Part) -> str:
        if isinstance(part, DynamicImport):
            return f"import({part.quote}{part.path}" + (f"{part.quote})" if part.complete else "")
        return part if isinstance(part, str) else "import.meta.url"

    return "".join(map(text, read(source).parts))


def modules() -> dict[str, str]:
    """Return all bundled modules of the web client."""
    files = sorted(WEB_FOLDER.rglob("*.js"))
    names = {path.relative_to(WEB_FOLDER).as_posix(): path.read_text() for path in files}
    return {name: source for name, source in names.items() if not name.startswith("vendor/emoji/")}


async def test_a_bundled_module_parses_as_the_same_program() -> None:
    sources = {**modules(), "hard": HARD}
    compared = {name: (source, rest_of(source)) for name, source in sources.items()}
    options = ("--expose-internals", "--no-warnings")
    differing = await run(*options, str(HERE / "same_program.mjs"), given=json.dumps(compared))
    assert differing == ""
    assert "comment" not in rest_of(HARD).replace("no comment", "")


def test_the_tokens_cover_the_whole_source() -> None:
    for source in [*modules().values(), HARD]:
        assert "".join(token.text for token in tokens(source)) == source


async def test_bundled_modules_are_valid_and_keep_only_licence_comments(
    tmp_path: Path,
) -> None:
    contents = {
        path.relative_to(WEB_FOLDER).as_posix(): path.read_bytes()
        for path in WEB_FOLDER.rglob("*")
        if path.is_file()
    }
    made = bundle(merged_files(contents))
    for name in (FIRST, LATER):
        (tmp_path / name).with_suffix(".mjs").write_bytes(made[name])
        await run("--check", str((tmp_path / name).with_suffix(".mjs")))
        comments = [token.text for token in tokens(made[name].decode()) if token.kind == "comment"]
        assert len(comments) == 1
        assert "/web/vendor/licences/" in comments[0]


PROGRAM = {
    "main.js": 'import { log } from "./deep/b.js";\nimport { A, later } from "./a.js";\n'
    "const waited = await later();\nlog(A.name, waited, ...(await import('./own.js')).own());\n"
    "console.log(JSON.stringify(log.all));",
    "a.js": 'import { log } from "./deep/b.js";\nimport * as c from "./c.js";\n'
    'export { two } from "./c.js";\nlog("a");\nexport class A {}\n'
    'export const later = async () => (await import("./deep/later.js")).words(c.one * c.many, c.two);',
    "c.js": 'import "./deep/b.js";\nimport { log } from "./deep/b.js";\nlog("c");\n'
    "const one = 1;\nexport function two() { return 2; }\nexport { one };\n"
    'export const { length: many, at } = "ab";',
    "deep/b.js": 'import { record as put } from "../vendor/small.js";\nput("b");\nexport const log = put;\n',
    "deep/later.js": 'import { two, log } from "../deep/more.js";\nlog("later");\n'
    "export async function words(one, given) { return `${one + given() + two()}`; }",
    "deep/more.js": 'import { two } from "../a.js";\nimport { log } from "./b.js";\nexport { two, log };\n'
    'const file = new URL("../vendor/large.js", import.meta.url);\nlog(file.pathname.split("/").at(-1));',
    "own.js": 'import { large } from "./vendor/large.js";\nimport { log } from "./deep/b.js";\nlog("own");\n'
    'const kind = "large";\nexport const own = () => [large, typeof import(`./vendor/${kind}.js`)];',
    "vendor/small.js": "var a=[],r=(...x)=>{a.push(...x)};r.all=a;export{r as record};",
    "vendor/large.js": "export default 1; export const large = 'large';",
}


async def test_a_bundled_program_behaves_like_its_source(tmp_path: Path) -> None:
    written = {name: source.encode() for name, source in PROGRAM.items()}
    made = bundle(written)
    lines = []
    for folder, files in (("written", written), ("made", made)):
        for name, content in {**files, "package.json": b'{"type": "module"}'}.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        lines.append(await run(str(tmp_path / folder / "main.js")))
    assert lines[0] == lines[1]
    assert json.loads(lines[0])[:3] == ["b", "c", "a"]
    assert set(made) == {"main.js", "first.js", "later.js", "own.js", "vendor/large.js"}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("export let a = 1;", "a.js: export  let a = 1;"),
        ("export default 1;", "a.js: export  default 1;"),
        ('import a from "./main.js";', "a.js: import or export a from"),
        ('import { a } from "./none.js";', "a.js imports ./none.js, which does not exist"),
        ('import { none } from "./b.js";', "a.js imports none, which b.js does not export"),
        ('import { c } from "./c.js";', "a.js imports itself through c.js"),
        ("const a = 'b", "a.js: line 1 starts a string that does not end"),
        ("const a = `b", "a.js: line 1 starts something that does not end"),
        ("a(", "a.js: a bracket is not closed"),
        ("\n)", "a.js: line 2 closes a bracket that is not open"),
    ],
)
def test_modules_that_cannot_be_bundled_are_rejected_with_the_problems_location(
    source: str, problem: str
) -> None:
    files = {
        "main.js": 'import "./a.js";',
        "a.js": source,
        "b.js": "export const b = 1;",
        "c.js": 'import "./a.js"; export const c = 1;',
    }
    with pytest.raises(UnsupportedSyntax) as refused:
        bundle({name: content.encode() for name, content in files.items()})
    assert str(refused.value).replace("  ", " ").startswith(problem.replace("  ", " "))


def test_style_sheets_are_minified_and_missing_translations_are_in_english() -> None:
    files = {
        "style/z.css": b'a::after { content: "/* kept */"; }\n/* gone\n  */\n  b { color: red; }',
        "style/base.css": b"@layer base;\n",
        "style/later/a.css": b"/* gone */i { color: blue; }",
        "words/en/b.ftl": b"b = B",
        "words/en/a.ftl": b"# of a\na = A\n    .title = T\n\n# of c\nc = C",
        "words/de/a.ftl": b"c = Ce",
    }
    assert bundle(merged_files(files)) == {
        "style.css": b'@layer base;a::after{content:"/* kept */"}b{color:red}',
        "later.css": b"i{color:blue}",
        "words/en.ftl": b"# of a\na = A\n    .title = T\n\n# of c\nc = C\nb = B",
        "words/de.ftl": b"c = Ce\na = A\n    .title = T\n\n# of c\nb = B",
    }
