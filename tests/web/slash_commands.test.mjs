// Tests the commands in messages that begin with "/".

import assert from "node:assert/strict";
import { test } from "node:test";

import { commandAt, commanded, commandsFor } from "../../src/svc/web/state/slash_commands.js";
import { plain } from "../../src/svc/web/views/markdown/plain_text.js";

test("emoticon commands append the emoticon, escaped so that Markdown does not change it", () => {
  assert.equal(plain(commanded("/shrug").text), "¯\\_(ツ)_/¯");
  assert.equal(plain(commanded("/shrug who knows").text), "who knows ¯\\_(ツ)_/¯");
  assert.equal(commanded("/tableflip").text, "(╯°□°)╯︵ ┻━┻");
  assert.equal(plain(commanded("/unflip").text), "┬─┬ノ( º _ ºノ)");
});

test("spoiler, nickname and status commands use all of the text after them", () => {
  assert.deepEqual(commanded("/spoiler the butler\nit was"), { text: "||the butler\nit was||" });
  assert.deepEqual(commanded("/nick Ada L."), { act: "nick", words: "Ada L." });
  assert.deepEqual(commanded("/status "), { act: "status", words: "" });
});

test("two slashes are sent as one, and other messages stay unchanged", () => {
  assert.deepEqual(commanded("//shrug"), { text: "/shrug" });
  for (const text of [
    "/etc/hosts",
    "/shrugs",
    "//server/share",
    "/",
    "//",
    "shrug",
    "a /shrug",
    "/shrug/x",
    "/constructor",
    "/nick",
    "/spoiler",
  ]) {
    assert.equal(commanded(text), null, text);
  }
});

test("only permitted commands are offered, and only at the start of a message", () => {
  const queryAt = (text) => commandAt(text.replace("¦", ""), text.indexOf("¦"))?.query ?? null;
  assert.deepEqual(["/¦", "/sh¦", "a /sh¦", "/shrug ¦", "//¦", "/etc/¦"].map(queryAt), [
    "",
    "sh",
    null,
    null,
    null,
    null,
  ]);
  assert.deepEqual(
    commandsFor("s", () => true).map(({ name }) => name),
    ["shrug", "spoiler", "status"],
  );
  assert.deepEqual(
    commandsFor("s", () => false).map(({ name }) => name),
    ["shrug", "spoiler"],
  );
});
