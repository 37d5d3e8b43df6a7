// Tests that Markdown is rendered as intended, and that all other text stays text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { look } from "../../src/svc/web/views/markdown/markdown.js";
import { parse } from "../../src/svc/web/views/markdown/parse.js";
import { plain } from "../../src/svc/web/views/markdown/plain_text.js";
import { elements, textOf } from "./rendered_elements.mjs";

const HOSTILE = JSON.parse(readFileSync(new URL("hostile.json", import.meta.url), "utf8"));
const CONTEXT = {
  ownId: "me",
  ownRoles: new Set(["moderators"]),
  emoji: new Map([["tada", { url: "/media/tada.webp" }]]),
  roles: new Map([
    ["moderators", { name: "Moderators", color: "#ff0000" }],
    ["guests", { name: "Guests", color: null }],
  ]),
  channels: new Map([["general", { name: "general" }]]),
};
// The elements of the surrounding block, which the tests leave out.
const AROUND = new Set(["div", "p"]);
const ELEMENTS = new Set(
  (
    "div p span strong em s code a br hr ul ol li blockquote table thead tbody tr th td img u " +
    "Code Spoiler Time"
  ).split(" "),
);
const ATTRIBUTES = new Set([
  "children",
  "class",
  "dir",
  "href",
  "title",
  "target",
  "rel",
  "start",
  "style",
  "scope",
  "tabindex",
  "role",
  "aria-label",
  "data-level",
  "src",
  "alt",
  "draggable",
  "loading",
  "type",
  "onClick",
  "code",
  "language",
  "words",
  "ms",
]);

const shown = (text, context = CONTEXT) => look(parse(text), context);
const names = (text, context) =>
  elements(shown(text, context))
    .map(({ name }) => name)
    .filter((name) => !AROUND.has(name));
const read = (text, context) => textOf(shown(text, context));
const elementsNamed = (text, name, context) =>
  elements(shown(text, context)).filter((element) => element.name === name);

// The source, the expected elements, and the expected visible text.
const MEANINGS = [
  ["**bold** *it* _it_ ~~no~~", ["strong", "em", "em", "s"], "bold it it no"],
  ["***both***", ["em", "strong"], "both"],
  ["a_b_c 2 * 3 * 4 **", [], "a_b_c 2 * 3 * 4 **"],
  ["`**not bold**` \\*nor this\\*", ["code"], "**not bold** *nor this*"],
  ["```js\n<b>x</b>\n```", ["Code"], "<b>x</b>"],
  ["~~~\na\n\nb\n~~~", ["Code"], "a\n\nb"],
  ["```\nnever closed", ["Code"], "never closed"],
  ["[a **b**](https://a.example/x_y_z)", ["a", "strong"], "a b"],
  ["https://a.example/(x). <https://b.example>", ["a", "a"], "https://a.example/(x). https://b.example"],
  [
    "https://a.example/*x*_y_, **https://b.example**",
    ["a", "strong", "a"],
    "https://a.example/*x*_y_, https://b.example",
  ],
  ["見て https://a.example/道。次", ["a"], "見て https://a.example/道。次"],
  ["xhttps://a.example", [], "xhttps://a.example"],
  ["請看https://a.example ไปที่https://b.example", ["a", "a"], "請看https://a.example ไปที่https://b.example"],
  ["今日は**「晴れ」**です", ["strong"], "今日は「晴れ」です"],
  ["中文**“引号”**中文，~~（删除）~~吧", ["strong", "s"], "中文“引号”中文，（删除）吧"],
  ['𠮷**(a)**𠮷 한국어**(b)**는 ไทย*"c"*ครับ', ["strong", "strong", "em"], '𠮷(a)𠮷 한국어(b)는 ไทย"c"ครับ'],
  ["これは**重要です。**次", ["strong"], "これは重要です。次"],
  ["日本_語_です ** 「a」 **", [], "日本_語_です ** 「a」 **"],
  ["![x](https://a.example/pixel.png)", ["a"], "![x](https://a.example/pixel.png)"],
  ["[![x](https://p.example/p.png)](https://a.example)", ["a"], "![x](https://p.example/p.png)"],
  ["# One\n### Three\ntext", [], "OneThreetext"],
  ["#general\n#1", ["br"], "#general#1"],
  ["> said\nanswered", ["blockquote"], "saidanswered"],
  ["> one\n> two", ["blockquote", "br"], "onetwo"],
  ["- a\n  1. b\n- c\nafter", ["ul", "li", "ol", "li", "li"], "abcafter"],
  [
    "| a | b |\n| :- | -: |\n| 1 | **2** |\nafter",
    ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "strong"],
    "ab12after",
  ],
  ["a\n---\nb", ["hr"], "ab"],
  ["one\ntwo\n\nthree", ["br"], "onetwothree"],
  ["||a *b*||", ["Spoiler", "em"], "a b"],
  ["||a|| b ||c", ["Spoiler"], "a b ||c"],
  ["    not code", [], "not code"],
  ["a\n    b", ["br"], "ab"],
  ["&copy; &amp; <b>", [], "&copy; &amp; <b>"],
  ["[Ada](mention:abc-1)", ["span"], "@Ada"],
  ["[@Ada](mention:abc-1)", ["span"], "@Ada"],
  ["[x](mention:everyone) [x](mention:here)", ["span", "span"], "@everyone @here"],
  ["[x](role:moderators) [Old](role:gone)", ["span", "span"], "@Moderators @Old"],
  ["[x](channel:general) [#old](channel:gone)", ["span", "span"], "#general #old"],
  [":tada: :nothing: 10:30:45", ["img"], ":tada: :nothing: 10:30:45"],
  ["`:tada:` \\:tada:", ["code"], ":tada: :tada:"],
  ["__under__ ___both___ a__b__c", ["u", "em", "u"], "under both a__b__c"],
  ["-# *little*\n-# \n- # a", ["em", "ul", "li"], "little-#a"],
  ["a\n>>> b\n\n- c\n> d", ["blockquote", "ul", "li", "blockquote"], "abcd"],
  [
    "- >>> a\n> >>> b\nc",
    [
      "ul",
      "li",
      "blockquote",
      "blockquote",
      "blockquote",
      "blockquote",
      "blockquote",
      "blockquote",
      "blockquote",
    ],
    "abc",
  ],
  ["<t:0:d> <t:0:x> <t:9999999999999> `<t:0>`", ["Time", "code"], " <t:0:x> <t:9999999999999> <t:0>"],
  ["#", [], "#"],
  ["> ", [], "> "],
  ["", [], ""],
];

for (const [written, tags, text] of MEANINGS) {
  test(`means: ${JSON.stringify(written)}`, () => {
    assert.deepEqual(names(written), tags);
    assert.equal(read(written), text);
  });
}

test("a block has the direction of its text, and its content inherits it", () => {
  for (const text of ["a", "# a", "> a", "- a", "|a|\n|-|\n|b|"]) {
    const directions = elements(shown(text))
      .map(({ props }) => props.dir)
      .filter(Boolean);
    assert.deepEqual(directions, ["auto"], text);
  }
});

test("lists keep their numbers", () => {
  assert.equal(elementsNamed("7. a\n8. b", "ol")[0].props.start, 7);
  assert.deepEqual(elementsNamed("1986. a", "ol")[0].props.style, { "--digits": 4 });
});

test("table cells have the specified alignment", () => {
  const classes = elementsNamed("|a|b|c|\n|:-|:-:|-:|", "th").map(({ props }) => props.class);
  assert.deepEqual(classes, ["start", "center", "end"]);
});

test("links open outside the page, show their target, and send no referrer", () => {
  const [{ props }] = elementsNamed("[x](https://a.example/y)", "a");
  const { href, target, rel, title } = props;
  assert.deepEqual(
    { href, target, rel, title },
    {
      href: "https://a.example/y",
      target: "_blank",
      rel: "noopener noreferrer",
      title: "https://a.example/y",
    },
  );
});

test("mentions of the user are highlighted", () => {
  const classes = (text) => elementsNamed(text, "span").map(({ props }) => props.class);
  assert.deepEqual(classes("[x](mention:me) [x](mention:you)"), ["mention own", "mention"]);
  assert.deepEqual(classes("[x](mention:here)"), ["mention own"]);
  assert.deepEqual(classes("[x](role:moderators) [x](role:gone)"), [
    "mention own coloured",
    "mention unknown",
  ]);
  assert.deepEqual(elementsNamed("[x](role:moderators)", "span")[0].props.style, { "--role": "#ff0000" });
});

test("a mention shows the member's current name", () => {
  const context = { members: (id) => (id === "abc" ? "Ada" : undefined) };
  assert.equal(read("[Grace](mention:abc) [Grace](mention:gone)", context), "@Ada @Grace");
});

test("a posted message mentions only the members whom the server lists", () => {
  const context = {
    ...CONTEXT,
    mentioned: new Set(["me"]),
    members: (id) => id.toUpperCase(),
    onMention: () => {},
  };
  // The server treats an indented line as code, but the client shows it as text.
  const text = "[a](mention:me)\n\n    [Ada](mention:ada) [e](mention:everyone) [r](role:moderators)";
  assert.equal(read(text, context), "@ME@Ada @everyone @Moderators");
  assert.deepEqual(
    elementsNamed(text, "button", context).map(({ props }) => props.class),
    ["mention own"],
  );
  assert.deepEqual(
    elementsNamed(text, "span", context).map(({ props }) => props.class),
    ["mention unknown", "mention unknown", "mention coloured"],
  );
});

test("mentions and channels are buttons if they have a handler", () => {
  const met = [];
  const context = { ...CONTEXT, onMention: (id) => met.push(id), onChannel: (id) => met.push(id) };
  for (const { props } of elementsNamed(
    "[x](mention:abc) [x](channel:general) [x](channel:gone) [x](role:guests)",
    "button",
    context,
  ))
    props.onClick();
  assert.deepEqual(met, ["abc", "general"]);
});

test("messages that consist only of emoji are large", () => {
  const isLarge = (text) => shown(text).props.class === "markdown large";
  for (const text of ["🎉", "👍🏽 👨‍👩‍👧‍👦\n🇩🇪", ":tada:", ":tada: ❤️ 1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
    assert.ok(isLarge(text), text);
  for (const text of ["a 🎉", "1", "#", "©", ":nothing:", "🎉".repeat(31), "**🎉**x", "", "🎉\n- 🎉", "`🎉`"])
    assert.ok(!isLarge(text), text);
});

test("a message can be converted to one line of plain text", () => {
  assert.equal(plain("-# __a__ <t:0:R>").replace(/\d+ years/u, "n years"), "a n years ago");
  const text =
    "# Title\n> *said*\n- [Ada](mention:a) **wrote**\n```js\ncode()\n```\n" +
    "||secret|| [link](https://a.example) :tada: [x](role:moderators)";
  assert.equal(plain(text, CONTEXT), "Title said @Ada wrote code() ▒▒▒ link :tada: @Moderators");
  assert.equal(plain("a\nb"), "a b");
});

function isHarmless(vnode, text) {
  for (const { name, props } of elements(vnode)) {
    assert.ok(ELEMENTS.has(name), `${name}: ${text}`);
    for (const attribute of Object.keys(props)) assert.ok(ATTRIBUTES.has(attribute), `${attribute}: ${text}`);
    if (name === "a") assert.match(props.href, /^https?:\/\/[^@]*$/u, text);
    if (name === "img") assert.equal(props.src, "/media/tada.webp");
  }
}

test("hostile text is shown as text", () => {
  for (const text of [
    ...HOSTILE.markdown,
    ...HOSTILE.addresses,
    ...HOSTILE.names,
    ...HOSTILE.file_names,
    ...HOSTILE.wide,
  ]) {
    isHarmless(shown(text), text);
    isHarmless(shown(`**a** ||${text}|| [${text}](https://a.example) > ${text}`), text);
  }
});

test("hostile text is not lost", () => {
  for (const text of HOSTILE.markdown.filter((hostile) => hostile.trim()))
    assert.notEqual(read(text) + names(text).join(""), "", text);
  for (const text of [
    "[x](javascript:alert(1))",
    "[x](//evil.example)",
    "<script>alert(1)</script>",
    "[x](mention:<img>)",
  ]) {
    assert.deepEqual([names(text), read(text)], [[], text]);
  }
});

test("a link with a label that contains a different host shows its real address", () => {
  for (const [text, host] of HOSTILE.pretending) {
    const links = elementsNamed(text, "a");
    assert.equal(links.length, 1, text);
    assert.equal(new URL(links[0].props.href).hostname, host, text);
    assert.match(
      textOf(links[0].props.children),
      new RegExp(`^https://${host.replaceAll(".", "\\.")}`, "u"),
      text,
    );
  }
  for (const [text, label] of HOSTILE.honest)
    assert.equal(textOf(elementsNamed(text, "a").map(({ props }) => props.children)), label, text);
});

test("an invisible link shows its address", () => {
  for (const text of ["[](https://a.example)", "[\u200b](https://a.example)", "[ㅤ](https://a.example)"])
    assert.equal(read(text), "https://a.example", text);
});

test("an address with credentials before the host does not become a link", () => {
  for (const text of [
    "https://bank.example@evil.example/",
    "[x](https://u:p@evil.example)",
    "<https://u@evil.example>",
  ]) {
    assert.deepEqual(elementsNamed(text, "a"), [], text);
  }
});

test("a message that is too long is shown without formatting", () => {
  const text = `**a**\n\n${"b".repeat(8_000)}`;
  assert.equal(read(text), text.replaceAll("\n", ""));
});

test("nesting is limited", () => {
  const depth = (vnode) =>
    Array.isArray(vnode)
      ? Math.max(0, ...vnode.map(depth))
      : vnode && typeof vnode === "object"
        ? 1 + depth(vnode.props.children)
        : 0;
  for (const wall of HOSTILE.walls)
    assert.ok(depth(shown(`${wall.repeat(40)}x${[...wall].reverse().join("").repeat(40)}`)) < 40, wall);
  const [open, close] = ["*_".repeat(900), "_*".repeat(900)];
  assert.ok(depth(shown(`${open}x${close}`)) < 40);
});

test("a long run of markers creates at most two elements per character", () => {
  for (const wall of HOSTILE.walls) {
    const text = wall.repeat(Math.ceil(4_000 / wall.length)).slice(0, 4_000);
    assert.ok(elements(shown(text)).length <= text.length * 2, wall);
  }
});

test("a table has no more cells than the text has characters", () => {
  const columns = (count) => `${"|a".repeat(count)}|\n${"|-".repeat(count)}|\n${"|\n".repeat(500)}`;
  assert.equal(elementsNamed(columns(200), "td").length, 0);
  assert.equal(elementsNamed(columns(200), "th").length, 0);
  assert.ok(elementsNamed(columns(8), "td").length <= 8 * 500);
});

test("emoji alone are large, but an emoji next to a mention or other content is not", () => {
  const isLarge = (text) => shown(text).props.class === "markdown large";
  for (const text of ["👋", "👋 ❤️\n🎉", ":tada: 👋"]) assert.ok(isLarge(text), text);
  for (const text of [
    "[Ada](mention:11) 👋",
    "👋 [everyone](mention:everyone)",
    "👋 `x`",
    "👋 ||x||",
    "👋 <t:1700000000:R>",
  ])
    assert.ok(!isLarge(text), text);
});
