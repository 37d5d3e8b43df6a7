// Tests that a voice channel shows the right participants while connections drop and return.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { lose, participantsIn, addMember, takeOver, voice } from "../../src/svc/web/state/voice.js";

const shown = (channelId = "lobby") =>
  participantsIn(channelId).map(({ id, lost }) => (lost ? `${id}?` : id));
const people = (...ids) => ids.map((id) => ({ id }));

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  voice.value = { lobby: people("ada", "grace", "alan") };
});

test("a participant with a broken connection stays in the channel", () => {
  lose("lobby", "grace");
  assert.deepEqual(shown(), ["ada", "grace?", "alan"]);
  addMember("lobby", { id: "grace" });
  assert.deepEqual(shown(), ["ada", "grace", "alan"]);
  mock.timers.tick(60_000);
  assert.deepEqual(shown(), ["ada", "grace", "alan"]);
});

test("a participant who does not return is removed ten seconds after the last disconnection", () => {
  lose("lobby", "grace");
  mock.timers.tick(9000);
  addMember("lobby", { id: "grace" });
  lose("lobby", "grace");
  mock.timers.tick(9999);
  assert.deepEqual(shown(), ["ada", "grace?", "alan"]);
  mock.timers.tick(1);
  assert.deepEqual(shown(), ["ada", "alan"]);
});

test("a server that has lost all participants does not remove anybody from the user's call", () => {
  takeOver("ada", { lobby: [], lounge: [] });
  assert.deepEqual(shown(), ["ada?", "grace?", "alan?"]);
  for (const id of ["alan", "ada", "edsger"]) addMember("lobby", { id });
  assert.deepEqual(shown(), ["ada", "grace?", "alan", "edsger"]);
  mock.timers.tick(10_000);
  assert.deepEqual(shown(), ["ada", "alan", "edsger"]);
});

test("the server's new state for other calls takes effect immediately", () => {
  takeOver("somebody else", { lobby: people("alan") });
  assert.deepEqual(shown(), ["alan"]);
  takeOver("alan", {}); // The user can no longer view the channel.
  assert.deepEqual(shown(), []);
});

test("a participant who is moved while disconnected is in one channel, in any order of events", () => {
  lose("lobby", "grace");
  addMember("lounge", { id: "grace" });
  assert.deepEqual([shown(), shown("lounge")], [["ada", "alan"], ["grace"]]);
  addMember("lounge", { id: "alan" });
  lose("lobby", "alan");
  assert.deepEqual([shown(), shown("lounge")], [["ada"], ["grace", "alan"]]);
  mock.timers.tick(60_000);
  assert.deepEqual([shown(), shown("lounge")], [["ada"], ["grace", "alan"]]);
});
