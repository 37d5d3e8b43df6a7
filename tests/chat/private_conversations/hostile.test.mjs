// Checks that the web client detects a server that omits, reorders, changes or repeats entries, or forks the
// log. Run by test_private_clients.py.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { WithheldEntryError } from "../../../src/svc/web/state/private/other_devices.js";
import { requestAs, Client, settle } from "./clients.mjs";
import { Hostile, log, renumbered } from "./hostile.mjs";

let server;
before(async () => {
  server = await Hostile.start();
});
after(() => server.end());

async function two() {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben")];
  const { id } = await ada.device.openWith([ben.memberId]);
  await ada.device.send(id, { text: "one" });
  await ben.device.sync();
  return { ada, ben, id };
}

test("a withheld message stops reading until it arrives", async () => {
  const { ada, ben, id } = await two();
  for (const text of ["two", "three"]) await ada.device.send(id, { text });
  server.between(
    ben,
    log((entries) => entries.slice(1)),
  );
  await assert.rejects(ben.device.sync(), WithheldEntryError);
  assert.deepEqual(await ben.texts(id), ["one"]);
  server.between(
    ben,
    log((entries) => entries.toReversed()),
  );
  await assert.rejects(ben.device.sync(), WithheldEntryError);
  server.leave(ben);
  await ben.device.sync();
  assert.deepEqual(await ben.texts(id), ["one", "two", "three"]);
  assert.deepEqual(await ben.troubles(id), []);
});

test("a member detects a changed order, and the others detect it in that member's next message", async () => {
  const { ada, ben, id } = await two();
  for (const text of ["yes", "no"]) await ada.device.send(id, { text });
  server.between(
    ben,
    log((entries) => (entries.length === 2 ? renumbered(entries.toReversed(), entries[0].seq) : entries)),
  );
  await ben.device.sync();
  assert.deepEqual(await ben.texts(id), ["one", "no", "yes"], "MLS reads them in any order");
  assert.deepEqual(
    await ben.troubles(id),
    [["differs", ada.memberId]],
    "the second was said after the first",
  );
  server.leave(ben);
  await ada.device.send(id, { text: "agreed?" });
  await ben.device.sync();
  assert.deepEqual(await ben.troubles(id), [["differs", ada.memberId]], "it is said once");
  for (const text of ["agreed", "and said once"]) await ben.device.send(id, { text });
  await ada.device.sync();
  assert.deepEqual(await ada.troubles(id), [["differs", ben.memberId]]);
});

for (const [what, change] of [
  ["repeated", ([first]) => renumbered([first, first], first.seq)],
  ["changed", ([first]) => [{ ...first, body: first.body.replace(/.{8}$/u, "AAAAAAA=") }]],
]) {
  test(`a message that is ${what} is reported and not read`, async () => {
    const { ada, ben, id } = await two();
    await ada.device.send(id, { text: "pay 10" });
    server.between(
      ben,
      log((entries) => (entries.length ? change(entries) : [])),
    );
    await ben.device.sync();
    assert.deepEqual(
      (await ben.texts(id)).filter((text) => text === "pay 10").length,
      what === "repeated" ? 1 : 0,
    );
    assert.deepEqual(await ben.troubles(id), [["foreign", null]]);
  });
}

test("an author is told that a message reached nobody once others have read later messages", async () => {
  const { ada, ben, id } = await two();
  let stored = null;
  server.between(ada, async ({ method, path, body, pass }) => {
    if (method === "POST" && path.endsWith("/messages") && !stored) {
      const { seq, epoch } = await requestAs(ada.token, "GET", `/api/private/conversations/${id}`);
      stored = { seq: seq + 1, epoch, kind: "message", body: body.message, sent_at_ms: Date.now() };
      return { seq: stored.seq, epoch };
    }
    if (!stored || !path.includes(`/conversations/${id}`)) return pass();
    // Ada sees all later entries with numbers that are higher by one.
    const asks = Number(new URLSearchParams(path.split("?")[1]).get("after"));
    const response = await pass(
      path.replace(`after=${asks}`, `after=${Math.min(asks, Math.max(asks - 1, stored.seq - 1))}`),
    );
    if (!path.includes("/log")) return { ...response, seq: response.seq + 1 };
    const own = asks < stored.seq ? [stored] : [];
    return {
      ...response,
      seq: response.seq + 1,
      entries: [...own, ...response.entries.map((entry) => ({ ...entry, seq: entry.seq + 1 }))],
    };
  });
  await ada.device.send(id, { text: "swallowed" });
  assert.deepEqual(await ada.texts(id), ["one", "swallowed"]);
  // Ben might have sent his first message before he read Ada's.
  await ben.device.send(id, { text: "are you there?" });
  await ada.device.sync();
  assert.deepEqual(await ada.troubles(id), []);
  await ben.device.send(id, { text: "hello?" });
  await ada.device.sync();
  assert.deepEqual(await ada.texts(id), ["one", "swallowed", "are you there?", "hello?"]);
  assert.deepEqual(await ada.troubles(id), [["differs", ben.memberId]]);
});

test("two members with different commits for the same epoch are told that their groups differ", async () => {
  const { ada, ben, id } = await two();
  const phone = await ada.another();
  // The server keeps Ben at the state he last saw and gives him a different copy of Ada's key package.
  const seen = await ben.ask("GET", `/api/private/conversations/${id}`);
  const packages = await ben.ask("POST", `/api/private/conversations/${id}/key-packages`, {
    devices: seen.lacking.map((device) => device.id),
  });
  await ada.device.sync();
  let forged = null;
  let joined = false;
  server.between(ben, async ({ method, path, body, pass }) => {
    if (joined || !path.includes("/conversations")) return pass();
    if (path.endsWith("/key-packages")) return packages;
    if (method === "POST" && path.endsWith("/commits")) {
      forged = {
        seq: seen.seq + 1,
        epoch: seen.epoch,
        kind: "commit",
        body: body.commit,
        sent_at_ms: Date.now(),
      };
      return { seq: forged.seq, epoch: seen.epoch + 1 };
    }
    const after = forged
      ? {
          epoch: seen.epoch + 1,
          seq: forged.seq,
          devices: [...seen.devices, ...seen.lacking.map((device) => ({ ...device, gone: false }))],
          lacking: [],
        }
      : {};
    if (path.endsWith("/conversations")) return { conversations: [{ ...seen, ...after }] };
    if (!path.includes("/log")) return { ...seen, ...after };
    const asks = Number(path.split("after=")[1]);
    return {
      epoch: seen.epoch,
      first_seq: 1,
      since: 0,
      ...after,
      seq: forged?.seq ?? seen.seq,
      entries: forged && asks < forged.seq ? [forged] : [],
    };
  });
  await ben.device.sync();
  const [one, other] = [await ada.device.groupState(id), await ben.device.groupState(id)];
  assert.equal(other.epoch, one.epoch);
  assert.notEqual(other.agreement, one.agreement);
  // From now on, the server forwards everything.
  joined = true;
  await ada.device.send(id, { text: "for Ben" });
  await ben.device.sync();
  assert.deepEqual(await ben.texts(id), ["one", undefined]);
  await ben.device.send(id, { text: "for Ada" });
  await ada.device.sync();
  assert.deepEqual(await ada.texts(id), ["one", "for Ben", undefined]);
  for (const client of [ada, ben]) assert.deepEqual(await client.troubles(id), [["foreign", null]]);
  // The next commit by one device does not match the other device's state. The other device is added again
  // and reports it.
  const tablet = await ada.another();
  for (const client of [ada, ben]) await client.device.sync();
  assert.deepEqual((await ben.troubles(id)).at(-1), ["forked", null]);
  await settle([ada, ben, phone, tablet], id);
  await ada.device.send(id, { text: "together again" });
  await ben.device.sync();
  assert.equal((await ben.texts(id)).at(-1), "together again");
});
