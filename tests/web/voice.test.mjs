// The participants shown in a voice channel while connections break and return.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { lose, peopleIn, place, takeOver, voice } from "../../src/svc/web/state/voice.js";

const shown = (channelId = "lobby") => peopleIn(channelId).map(({ id, lost }) => (lost ? `${id}?` : id));
const people = (...ids) => ids.map((id) => ({ id }));

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  voice.value = { lobby: people("ada", "grace", "alan") };
});

test("whose connection breaks keeps their place, and has it again when they are back", () => {
  lose("lobby", "grace");
  assert.deepEqual(shown(), ["ada", "grace?", "alan"]);
  place("lobby", { id: "grace" });
  assert.deepEqual(shown(), ["ada", "grace", "alan"]);
  mock.timers.tick(60_000);
  assert.deepEqual(shown(), ["ada", "grace", "alan"]);
});

test("who does not come back is gone after ten seconds, counted from the last break", () => {
  lose("lobby", "grace");
  mock.timers.tick(9000);
  place("lobby", { id: "grace" });
  lose("lobby", "grace");
  mock.timers.tick(9999);
  assert.deepEqual(shown(), ["ada", "grace?", "alan"]);
  mock.timers.tick(1);
  assert.deepEqual(shown(), ["ada", "alan"]);
});

test("a server that has lost everybody in our call loses nobody of it", () => {
  takeOver("ada", { lobby: [], lounge: [] });
  assert.deepEqual(shown(), ["ada?", "grace?", "alan?"]);
  for (const id of ["alan", "ada", "edsger"]) place("lobby", { id });
  assert.deepEqual(shown(), ["ada", "grace?", "alan", "edsger"]);
  mock.timers.tick(10_000);
  assert.deepEqual(shown(), ["ada", "alan", "edsger"]);
});

test("of calls that we are not in, what the server says anew holds at once", () => {
  takeOver("somebody else", { lobby: people("alan") });
  assert.deepEqual(shown(), ["alan"]);
  takeOver("alan", {}); // We may no longer view the channel.
  assert.deepEqual(shown(), []);
});

test("who is moved while their place is kept is in one channel, whichever is heard first", () => {
  lose("lobby", "grace");
  place("lounge", { id: "grace" });
  assert.deepEqual([shown(), shown("lounge")], [["ada", "alan"], ["grace"]]);
  place("lounge", { id: "alan" });
  lose("lobby", "alan");
  assert.deepEqual([shown(), shown("lounge")], [["ada"], ["grace", "alan"]]);
  mock.timers.tick(60_000);
  assert.deepEqual([shown(), shown("lounge")], [["ada"], ["grace", "alan"]]);
});
