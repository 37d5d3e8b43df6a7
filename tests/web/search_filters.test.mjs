// Tests that search filters are completed in the user's language, and translated to the server's names.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  begun,
  completed,
  extended,
  foundIn,
  sent,
  values,
  wantedWords,
  wrong,
} from "../../src/svc/web/state/search_filters.js";

process.env.TZ = "Europe/Berlin";

const filterNames = {
  filters: { from: "von", in: "in", has: "hat", before: "vor", after: "nach" },
  kinds: {
    link: "Link",
    image: "Bild",
    video: "Video",
    audio: "Ton",
    file: "Datei",
    card: "Karte",
    pin: "angepinnt",
    reaction: "Reaktion",
  },
};
const sources = {
  members: [{ nickname: "Grace Hopper" }, { nickname: "Ada" }],
  channels: [{ name: "general" }, { name: "garden club" }],
};
const offered = (query) => {
  const term = begun(query, filterNames);
  return term && values(term, sources, filterNames);
};

test("a filter is completed only at the end, while its value is incomplete", () => {
  for (const whole of ["from:Ada tea", "tea ", "where from: ", 'in:"garden club"', "url:x"])
    assert.equal(begun(whole, filterNames), null);
  for (const query of ["tea von:gr", "tea from:gr", "tea Von:gr", "tea von：gr"])
    assert.deepEqual(begun(query, filterNames), { filter: "from", wanted: "gr", start: query.length - 2 });
});

test("people, channels and kinds are offered, even in negated filters", () => {
  assert.deepEqual(offered("from:"), ["Ada", "Grace Hopper"]);
  assert.deepEqual(offered("von:hop"), ["Grace Hopper"]);
  assert.deepEqual(offered("-in:ga"), ["garden club"]);
  assert.deepEqual(offered('in:"garden c'), ["garden club"]);
  assert.deepEqual(offered("has:bi"), ["Bild"]);
  assert.deepEqual(offered("vor:"), []);
});

test("the choice replaces the typed value", () => {
  const chosen = (query, value) => completed(query, begun(query, filterNames), value);
  assert.equal(chosen("tea from:gr", "Grace Hopper"), 'tea from:"Grace Hopper" ');
  assert.equal(chosen('in:"gen', "general"), "in:general ");
  assert.equal(extended("tea ", "has", filterNames), "tea hat:");
  assert.equal(extended("", "before", filterNames), "vor:");
});

test("filters are translated for the server, and text that resembles a filter stays unchanged", () => {
  assert.equal(
    sent('tea von:"Grace Hopper" -hat:bild in:general', filterNames),
    'tea from:"Grace Hopper" -has:image in:general',
  );
  assert.equal(sent("has:image hat:Datei", filterNames), "has:image has:file");
  assert.equal(
    sent('"von:Ada" (von:Ada nachvon:Ada https://vor:1', filterNames),
    '"von:Ada" (von:Ada nachvon:Ada https://vor:1',
  );
  assert.equal(
    sent("hat:Kuchen vor:gestern nach:2026-02-31", filterNames),
    "has:Kuchen before:gestern after:2026-02-31",
  );
  const french = { ...filterNames, filters: { ...filterNames.filters, after: "après" } };
  assert.equal(sent("apres:morgen", french), "after:morgen");
});

test("a prefix matches all members with a word in their name that starts with it", () => {
  const members = ["Grace Hopper", "Ada Lovelace", "Ada", "Adam"].map((nickname) => ({ nickname }));
  const sentQuery = (query) => sent(query, filterNames, members);
  assert.equal(sentQuery("von:grace tea"), 'from:"Grace Hopper" tea');
  assert.equal(sentQuery("-from:@hop"), '-from:"Grace Hopper"');
  assert.equal(sentQuery("from:ad"), 'from:"Ada Lovelace" from:Ada from:Adam');
  assert.equal(sentQuery("from:ada"), "from:ada");
  assert.equal(sentQuery("from:nobody"), "from:nobody");
});

test("a day lasts from midnight to midnight in the user's time zone, even when the clocks change", () => {
  assert.equal(sent("vor:2026-01-31", filterNames), "before:2026-01-30T23:00Z");
  assert.equal(sent("nach:2026-03-29", filterNames), "after:2026-03-29T22:00Z");
  assert.equal(sent("after:2026-12-31", filterNames), "after:2026-12-31T23:00Z");
});

test("invalid queries are detected before they are sent", () => {
  assert.deepEqual(wrong("tea hat:Kuchen has:bild", filterNames), {
    why: "kind",
    filter: "has",
    value: "Kuchen",
  });
  assert.deepEqual(wrong('-hat:"rote Grütze"', filterNames), {
    why: "kind",
    filter: "has",
    value: "rote Grütze",
  });
  for (const value of ["gestern", "2026-02-31", "2026-13-01", "31.01.2026", "2026-01-31T00:00", "T+00:00"])
    assert.deepEqual(wrong(`vor:${value}`, filterNames), { why: "day", filter: "before", value });
  assert.deepEqual(wrong("-nach:2026-01-31", filterNames), {
    why: "excluded",
    filter: "after",
    value: "2026-01-31",
  });
  for (const query of [
    "tea",
    'von:"Grace Hopper" -hat:bild vor:2024-02-29',
    "after:2026-01-31T00:00+01:00 before:1970-01-01T00:00Z",
    '"hat:Kuchen" url:x (vor:x',
  ])
    assert.equal(wrong(query, filterNames), null);
});

test("the words in a query are found in messages, without filters and excluded words", () => {
  const query = 'Müs "rote grütze" -tea von:Ada url:x';
  assert.deepEqual(wantedWords(query, filterNames), ["mus", "rote", "grutze", "url", "x"]);
  const marked = (text, ...words) => [...foundIn(text, words)].map(([start, end]) => text.slice(start, end));
  assert.deepEqual(marked("Müsli, MUSS, Amüsement", "mus"), ["Müsli", "MUSS"]);
  assert.deepEqual(marked("私は東京に住む", "東京"), ["東京"]);
  assert.deepEqual(marked("nothing of it", "mus"), []);
});
