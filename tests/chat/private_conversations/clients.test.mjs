// Tests MLS clients with a real server, random schedules and a network that loses responses. Run by
// test_private_clients.py.

import assert from "node:assert/strict";
import test from "node:test";

import {
  contentOf,
  deletionPayload,
  editPayload,
  messagePayload,
  namePayload,
  reactionPayload,
  removalPayload,
} from "../../../src/svc/web/state/private/content.js";
import { utf8 } from "../../../src/svc/web/state/private/mls.js";
import { WithheldEntryError } from "../../../src/svc/web/state/private/other_devices.js";
import { openFile, sealFile } from "../../../src/svc/web/state/private/file_encryption.js";
import { Client, settle } from "./clients.mjs";

const FIRST = Number(process.env.SVC_FIRST ?? 0);
const SCHEDULES = Number(process.env.SVC_SCHEDULES ?? 30);

/** mulberry32, a generator that returns the same numbers for the same seed. */
function randomOf(seed) {
  let at = seed >>> 0;
  return () => {
    at = (at + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const lost = () => Object.assign(new Error("the network"), { code: "unreachable" });

test("two people can exchange messages and see their authors", async () => {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben")];
  const { id } = await ada.device.openWith([ben.memberId]);
  await ada.device.send(id, { text: process.env.SVC_SECRET });
  await ben.device.sync();
  await ben.device.send(id, { text: "hello Ada", reply: 2 });
  await ada.device.sync();
  for (const client of [ada, ben]) {
    const history = await client.device.history(id);
    assert.deepEqual(
      history.map(({ said, memberId }) => [said.text, memberId]),
      [
        [process.env.SVC_SECRET, ada.memberId],
        ["hello Ada", ben.memberId],
      ],
    );
  }
});

test("files, edits, reactions, replies, names and removals arrive unchanged", async () => {
  const secret = process.env.SVC_SECRET;
  const [ada, ben, cem] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Cem")];
  const { id } = await ada.device.openWith([ben.memberId, cem.memberId]);
  const plain = utf8(secret.repeat(50));
  const { data, ...sealed } = await sealFile(plain);
  const file = {
    id: await ada.upload(id, data),
    ...sealed,
    name: `${secret}.txt`,
    type: "text/plain",
    bytes: plain.length,
    alt: secret,
  };
  const message = messagePayload("a draft", { files: [file] });
  const ref = { by: ada.memberId, key: message.key };
  const sign = secret.replaceAll(" ", "-");
  for (const payload of [
    message,
    editPayload(ref, secret),
    reactionPayload(ref, sign, true),
    messagePayload(`${secret}?`, { reply: ref }),
    namePayload(secret),
  ])
    await ada.device.send(id, payload);
  const doomed = messagePayload(secret);
  for (const payload of [doomed, deletionPayload({ by: ada.memberId, key: doomed.key })])
    await ada.device.send(id, payload);
  await ada.ask("DELETE", `/api/private/conversations/${id}/members/${cem.memberId}`);
  await ada.device.send(id, removalPayload(cem.memberId));
  await ben.device.sync();
  const { messages, name, removals } = contentOf(await ben.device.history(id));
  assert.deepEqual(
    messages.map(({ text, reply }) => [text, reply]),
    [
      [secret, null],
      [`${secret}?`, messages[0].id],
    ],
  );
  assert.deepEqual(messages[0].reactions, [{ emoji: sign, member_ids: [ada.memberId] }]);
  assert.deepEqual(
    [name, removals.map(({ by, who }) => [by, who])],
    [secret, [[ada.memberId, cem.memberId]]],
  );
  assert.deepEqual(await openFile(await ben.fetchFile(id, file.id), messages[0].files[0]), plain);
});

test("messages wait until somebody else can read them", async () => {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben", undefined, false)];
  const { id } = await ada.device.openWith([ben.memberId]);
  await assert.rejects(ada.device.send(id, { text: "too early" }), { code: "alone" });
  await ben.device.prepare();
  await ada.device.send(id, { text: "now" });
  await ben.device.sync();
  assert.deepEqual(await ben.texts(id), ["too early", "now"]);
});

test("a second device is added and can read later messages", async () => {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben")];
  const { id } = await ada.device.openWith([ben.memberId]);
  await ada.device.send(id, { text: "before" });
  const phone = await ben.another();
  await settle([ada, ben, phone], id);
  await ada.device.send(id, { text: "after" });
  await phone.device.sync();
  await ben.device.sync();
  assert.deepEqual(await phone.texts(id), ["after"]);
  assert.deepEqual(await ben.texts(id), ["before", "after"]);
});

test("two people who have lost their keys start over and keep the messages they had read", async () => {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben")];
  const { id } = await ada.device.openWith([ben.memberId]);
  await ada.device.send(id, { text: "before" });
  await ben.device.sync();
  for (const client of [ada, ben]) client.store.forget("group/");
  for (const client of [ada, ben]) await client.device.sync();
  await settle([ada, ben], id);
  await ben.device.send(id, { text: "after" });
  await ada.device.sync();
  for (const client of [ada, ben]) assert.deepEqual(await client.texts(id), ["before", "after"]);
});

test("three people form a group, and a member who leaves can read no later messages", async () => {
  const [ada, ben, cem] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Cem")];
  const { id } = await ada.device.openWith([ben.memberId, cem.memberId]);
  await ada.device.send(id, { text: "one" });
  await cem.device.sync();
  const before = await cem.store.get(`group/${id}`);
  await cem.ask("POST", `/api/private/conversations/${id}/leave`);
  await ben.device.sync();
  await ben.device.send(id, { text: "two" });
  await ada.device.sync();
  assert.deepEqual(await ada.texts(id), ["one", "two"]);
  assert.deepEqual(await cem.texts(id), ["one"]);
  // Even with all entries ever sent, Cem cannot derive the keys of the new epoch.
  const { entries } = await ada.ask("GET", `/api/private/conversations/${id}/log?after=1`);
  cem.network = async (request, path) => {
    if (path.includes("/log"))
      return {
        entries: entries.filter(({ seq }) => seq > before.seq),
        seq: entries.at(-1).seq,
        first_seq: 1,
        epoch: 3,
      };
    if (path.endsWith("/lost")) return null;
    if (path.endsWith("/conversations")) return { conversations: [{ id }] };
    return request();
  };
  await cem.device.sync();
  assert.deepEqual(await cem.texts(id), ["one"]);
});

test("after a removal, a call gets its new key as soon as the log has been read", async () => {
  const [ada, ben, cem] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Cem")];
  const { id } = await ada.device.openWith([ben.memberId, cem.memberId]);
  await ada.device.send(id, { text: "hello" });
  await settle([ada, ben, cem], id);
  const asks = [];
  let first = null;
  ben.inCall.set(id, () => {
    first ??= ben.device.groupState(id);
  });
  ben.network = (request, path) => {
    if (!first) asks.push(path.replace(/\?.*/u, ""));
    return request();
  };
  await ada.ask("DELETE", `/api/private/conversations/${id}/members/${cem.memberId}`);
  await ada.device.sync([id]);
  await ben.device.sync([id]);
  assert.deepEqual(asks, [`/api/private/conversations/${id}/log`]);
  const [hers, his] = await Promise.all([ada.device.groupState(id), first]);
  assert.equal(his.epoch, hers.epoch);
  assert.deepEqual((await his.callKeys()).baseKey, (await hers.callKeys()).baseKey);
});

test("a server that omits, changes or repeats entries is detected", async () => {
  const [ada, ben] = [await Client.join("Ada"), await Client.join("Ben")];
  const { id } = await ada.device.openWith([ben.memberId]);
  await ada.device.send(id, { text: "one" });
  await ben.device.sync();
  for (const text of ["two", "three"]) await ada.device.send(id, { text });
  const through = (change) => async (request, path) => {
    const answer = await request();
    return path.includes("/log") ? { ...answer, entries: change(answer.entries) } : answer;
  };
  ben.network = through((entries) => entries.slice(1));
  await assert.rejects(ben.device.sync(), WithheldEntryError);
  ben.network = through((entries) =>
    entries.map((entry, at) => ({ ...entry, seq: entries[0]?.seq + at, body: entries.at(-1).body })),
  );
  await ben.device.sync();
  assert.deepEqual(
    await ben.texts(id),
    ["one", "three", undefined],
    "the same twice, and the second is nothing",
  );
  assert.deepEqual(
    await ben.troubles(id),
    [
      ["differs", ada.memberId],
      ["foreign", null],
    ],
    "the third was said after the second, and the same again is wrong too",
  );
});

test("an outsider cannot be added to a conversation secretly", async () => {
  const [ada, ben, eve] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Eve")];
  const { id } = await ada.device.openWith([ben.memberId]);
  const { id: other } = await ada.device.openWith([eve.memberId]);
  const { lacking } = await ada.ask("GET", `/api/private/conversations/${other}`);
  const evil = lacking.find((device) => device.member_id === eve.memberId);
  ada.network = async (request, path) => {
    if (path.endsWith("/key-packages"))
      return ada
        .ask("POST", `/api/private/conversations/${other}/key-packages`, { devices: [evil.id] })
        .then(({ key_packages: all }) => ({
          key_packages: all.map((package_) => ({ ...package_, device_id: evil.id })),
        }));
    const answer = await request();
    return path.endsWith(id) ? { ...answer, lacking: [evil] } : answer;
  };
  await assert.rejects(ada.device.send(id, { text: "for Ben alone" }), { code: "alone" });
});

test("devices finally agree after any sequence of actions, crashes and lost keys", async (t) => {
  let clients = [];
  for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
    // Tokens expire during a long run.
    if ((seed - FIRST) % 100 === 0) clients = await threeWithFourDevices();
    await t.test(`schedule ${seed}`, async () => schedule(clients, randomOf(seed)));
  }
});

async function threeWithFourDevices() {
  const [ada, ben, cem] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Cem")];
  return [ada, ben, cem, await ben.another()];
}

async function schedule(clients, random) {
  const [ada, ben, cem] = clients;
  const { id } = await ada.device.openWith([ben.memberId, cem.memberId]);
  for (const client of clients) {
    client.network = async (request) => {
      const luck = random();
      if (luck < 0.04) throw lost();
      const answer = await request();
      if (luck > 0.96) throw lost();
      return answer;
    };
  }
  const [forgetful, sent] = [new Set(), []];
  const expected = (error) => {
    if (!["unreachable", "alone", "outside"].includes(error.code)) throw error;
  };
  for (let step = 0; step < 8; step += 1) {
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = clients[Math.floor(random() * clients.length)];
        const luck = random();
        if (luck < 0.5) {
          const text = `${step} ${random()}`;
          await client.device.send(id, { text }).then(() => sent.push([client, text]), expected);
        } else if (luck < 0.85) await client.device.sync().catch(expected);
        else if (luck < 0.95) client.start();
        else if (!forgetful.size) {
          forgetful.add(client);
          await client.turn(() => client.store.forget(`group/${id}`));
        }
      }),
    );
  }
  for (const client of clients) client.network = (request) => request();
  await settle(clients, id);
  await compare(clients, id, forgetful, sent);
  for (const client of [ada, ben, cem]) await client.ask("POST", `/api/private/conversations/${id}/leave`);
}

/** Check that all members have the same history, each since the time they were added. */
async function compare(clients, id, forgetful, sent) {
  const histories = new Map(
    await Promise.all(clients.map(async (client) => [client, await client.device.history(id)])),
  );
  for (const client of clients)
    assert.deepEqual(await client.troubles(id), [], "an honest server is not accused");
  const whole = new Map();
  for (const history of histories.values()) {
    for (const { seq, said: all, memberId } of history) {
      assert.ok(all, "everything can be read");
      const { frank, ...said } = all; // The author's own copy has no proof.
      const known = whole.get(seq);
      if (known) assert.deepEqual([said, memberId], known);
      whole.set(seq, [said, memberId]);
    }
  }
  const texts = [...whole.values()].map(([{ text }]) => text);
  assert.equal(new Set(texts).size, texts.length, "nothing was said twice");
  for (const [client, text] of sent) {
    if (forgetful.has(client)) continue;
    assert.ok(
      histories.get(client).some(({ said }) => said.text === text),
      `${text} was acknowledged and is there`,
    );
  }
  for (const [client, history] of histories) {
    if (forgetful.has(client) || !history.length) continue;
    const since = [...whole.keys()].filter((seq) => seq >= history[0].seq);
    assert.equal(history.length, since.length, "nothing is missing");
  }
}
