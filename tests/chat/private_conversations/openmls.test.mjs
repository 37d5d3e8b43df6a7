// Checks that the web client's ts-mls and OpenMLS can share a group and read each other's messages. Run by
// test_private_clients.py.

import assert from "node:assert/strict";
import test from "node:test";

import { hexOf } from "../../../src/svc/web/state/private/mls.js";
import { Client, settle } from "./clients.mjs";
import { OpenMls } from "./openmls.mjs";

const ROUNDS = 12;

/** Check that both devices agree on the group and on the key for calls. */
async function agree(id, page, other, devices) {
  const [one, two] = [await page.device.groupState(id), await other.groupState()];
  assert.equal(two.agreement, one.agreement);
  assert.equal(two.epoch, one.epoch);
  assert.equal(two.callKey, hexOf((await one.callKeys()).baseKey));
  assert.deepEqual([one.statements.length, two.devices], [devices, devices]);
}

/** Run a test. Then end the programs it has started. */
function both(name, act) {
  test(name, async () => {
    const started = [];
    const joins = async (nickname, packages) => {
      started.push(await OpenMls.join(nickname, packages));
      return started.at(-1);
    };
    try {
      await act(joins);
    } finally {
      for (const client of started) client.end();
    }
  });
}

both("OpenMLS joins by the page's Welcome, and they write to each other", async (joins) => {
  const [ada, rust] = [await Client.join("Ada"), await joins("Rust")];
  const { id } = await ada.device.openWith([rust.memberId]);
  await ada.device.send(id, { text: "grüße" });
  await rust.sync(id);
  await agree(id, ada, rust, 2);
  await rust.send(id, "and back, 你好");
  await ada.device.sync();
  const expected = [
    ["grüße", ada.memberId],
    ["and back, 你好", rust.memberId],
  ];
  assert.deepEqual(
    (await ada.device.history(id)).map(({ said, memberId }) => [said.text, memberId]),
    expected,
  );
  assert.deepEqual(
    rust.history.map(({ text, memberId }) => [text, memberId]),
    expected,
  );
});

both("the page joins by a Welcome of OpenMLS, and a second device of its member too", async (joins) => {
  const [ada, rust] = [await Client.join("Ada"), await joins("Rust")];
  const { id } = await rust.ask("POST", "/api/private/conversations", { members: [ada.memberId] });
  await rust.begin(id);
  await rust.send(id, "welcome");
  await ada.device.sync();
  await agree(id, ada, rust, 2);
  const phone = await ada.another();
  assert.ok(await rust.renew(id), "nobody else commits");
  for (const client of [ada, phone]) await client.device.sync();
  await agree(id, phone, rust, 3);
  await phone.device.send(id, { text: "from the phone" });
  await rust.sync(id);
  await ada.device.sync();
  assert.deepEqual(await ada.texts(id), ["welcome", "from the phone"]);
  assert.deepEqual(rust.history.at(-1), { text: "from the phone", memberId: ada.memberId });
});

both("of commits of both that race one wins each epoch, and both agree in the end", async (joins) => {
  const [ada, rust] = [await Client.join("Ada"), await joins("Rust", 30)];
  const ben = await Client.join("Ben");
  const { id } = await ada.device.openWith([rust.memberId, ben.memberId]);
  await ada.device.send(id, { text: "begin" });
  await ben.device.sync();
  await rust.sync(id);
  const { statement } = await ben.store.get("identity");
  for (let round = 0; round < ROUNDS; round += 1) {
    // The first device that commits removes a device that has lost its keys, and adds it again.
    await ben.turn(() => ben.store.forget(`group/${id}`));
    await ben.ask("POST", `/api/private/conversations/${id}/lost`);
    const before = (await rust.groupState()).epoch;
    await Promise.all([ada.device.sync(), rust.renew(id, statement)]);
    for (let turn = 0; turn < 4; turn += 1) {
      await ada.device.sync();
      await ben.device.sync();
      await rust.sync(id);
    }
    await agree(id, ada, rust, 3);
    await agree(id, ben, rust, 3);
    assert.ok((await rust.groupState()).epoch > before);
    await Promise.all([ada.device.send(id, { text: `page ${round}` }), rust.send(id, `rust ${round}`)]);
  }
  for (const client of [ada, ben]) await client.device.sync();
  await rust.sync(id);
  const texts = rust.history.map(({ text }) => text);
  assert.equal(texts.length, 1 + 2 * ROUNDS);
  assert.deepEqual(await ada.texts(id), texts, "in the same order");
});

both(
  "whoever leaves is taken out by OpenMLS, and OpenMLS by the page, and reads nothing more",
  async (joins) => {
    const [ada, ben, rust] = [await Client.join("Ada"), await Client.join("Ben"), await joins("Rust")];
    const { id } = await ada.device.openWith([ben.memberId, rust.memberId]);
    await ada.device.send(id, { text: "all three" });
    await ben.device.sync();
    await rust.sync(id);
    const { statement } = await ben.store.get("identity");
    await ben.ask("POST", `/api/private/conversations/${id}/leave`);
    assert.ok(await rust.renew(id, statement));
    await rust.send(id, "without Ben");
    await ada.device.sync();
    await agree(id, ada, rust, 2);
    assert.deepEqual(await ada.texts(id), ["all three", "without Ben"]);
    const { seq } = rust;
    await rust.ask("POST", `/api/private/conversations/${id}/leave`);
    const cem = await Client.join("Cem");
    await ada.ask("PUT", `/api/private/conversations/${id}/members/${cem.memberId}`, {});
    await settle([ada, cem], id);
    await ada.device.send(id, { text: "without Rust" });
    await cem.device.sync();
    assert.deepEqual(await cem.texts(id), ["without Rust"]);
    // Even with all later log entries, the removed device cannot read anything after its removal.
    const { entries } = await ada.ask("GET", `/api/private/conversations/${id}/log?after=${seq}`);
    await assert.rejects(rust.readAll(entries));
    assert.deepEqual(
      rust.history.map(({ text }) => text),
      ["all three", "without Ben"],
    );
  },
);
