// Transfers a conversation's earlier messages from one of our devices to another that joined later. The new
// device sends a request in the conversation, with a key generated for the transfer. If the member consents
// on the old device, that device sends the history as an encrypted file. Only these two devices can derive
// the file's key. The server and other members can see that a transfer takes place, but not its content. See
// docs/private.md.

/**
 * @import { PrivateConversation } from "../../types/api.js"
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Payload } from "./content.js"
 * @import { Entry } from "./apply_log_entry.js"
 * @import { Device } from "./other_devices.js"
 * @import { Store } from "./unsent_messages.js"
 *
 * @typedef {"asked" | "refused" | "failed" | "done"} State
 * @typedef {{ask: string, key: Uint8Array<ArrayBuffer>, state: State}} StoredRequest The request as it is
 *   stored.
 * @typedef {"" | "none" | "can" | State} TransferState
 * @typedef {{ask: string, seq: number, upTo: number, thumbprint: string}} TransferRequest A request from
 *   another device.
 * @typedef {(id: string, payload: Payload) => Promise<void>} Send
 */

import { fromBase64, textOf, toBase64, utf8 } from "./mls.js";
import { isBytes, openFile, sealFile } from "./file_encryption.js";

const TYPE = "earlier";
const CURVE = { name: "ECDH", namedCurve: "P-256" };
const INFO = "svc earlier messages ";
const GONE = ["unknown_file", "not_found"];
// Up to these limits, a browser can read, encrypt and store the history in one step without a noticeable
// delay.
export const MAX_ENTRIES = 10_000;
export const MAX_BYTES = 8 * 2 ** 20;

const REQUEST = (/** @type {string} */ id) => `asked/${id}`;
const SINCE = (/** @type {string} */ id) => `since/${id}`;
const HISTORY = (/** @type {string} */ id, /** @type {number | ""} */ seq = "") => `history/${id}/${seq}`;

/** @param {object} rest @returns {Payload} */
const transferPayload = (rest) => ({ v: 1, type: TYPE, key: crypto.randomUUID(), ...rest });

/**
 * Return the change that records where the history on this device begins. Return no change if the device
 * already has entries.
 * @param {Store} store
 * @param {string} id
 * @param {number} seq The number of the commit that added the device.
 * @returns {Promise<Changes>}
 */
export async function historyStart(store, id, seq) {
  if (seq <= 1 || (await store.under(HISTORY(id))).length) return [];
  return [[SINCE(id), seq]];
}

/**
 * Return the thumbprints of our other devices in a group. Both MLS and the server must attribute a device to
 * us. Otherwise, a member alone, or the server alone, could insert a device that claims to be ours. If both
 * collude, only a comparison of safety numbers reveals it.
 * @param {Device[] | null} inGroup
 * @param {Pick<PrivateConversation, "devices">} conversation The server's data.
 * @param {Device} own
 */
export function ownOtherDevices(inGroup, { devices }, { memberId, thumbprint }) {
  const isOurs = (/** @type {Device} */ device) =>
    devices.some(
      (leaf) => !leaf.gone && leaf.member_id === memberId && leaf.thumbprint === device.thumbprint,
    );
  return (inGroup ?? [])
    .filter((device) => device.memberId === memberId && device.thumbprint !== thumbprint && isOurs(device))
    .map((device) => device.thumbprint);
}

/**
 * Return the entries about transfers that the member has sent from these devices.
 * @param {Entry[]} entries
 * @param {string} memberId
 * @param {string[]} thumbprints
 */
const transferEntriesBy = (entries, memberId, thumbprints) =>
  entries.filter(
    (entry) =>
      entry.said?.type === TYPE &&
      entry.memberId === memberId &&
      thumbprints.includes(entry.thumbprint ?? ""),
  );

/**
 * Return the state of the transfer to this device.
 * @param {Store} store
 * @param {string} id
 * @param {string[]} ours
 * @returns {Promise<TransferState>}
 */
export async function transferStateOf(store, id, ours) {
  if (!(await store.get(SINCE(id)))) return "";
  const { state } = /** @type {Partial<StoredRequest>} */ ((await store.get(REQUEST(id))) ?? {});
  if (state === "done") return state;
  return ours.length ? (state ?? "can") : "none";
}

/**
 * Ask our other devices for earlier messages. It is safe to ask again.
 * @param {{store: Store, send: Send}} parts
 * @param {string} id
 */
export async function requestTransfer({ store, send }, id) {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["deriveBits"]);
  const ask = toBase64(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  await store.put([[REQUEST(id), { ask, key, state: "asked" }]]);
  try {
    await send(id, transferPayload({ ask, up_to: await store.get(SINCE(id)) }));
  } catch (error) {
    await store.put([[REQUEST(id), undefined]]);
    throw error;
  }
}

/**
 * Return the last request from each of our other devices, if it is unanswered and this device has entries
 * to send.
 * @param {Entry[]} entries
 * @param {Device} own
 * @param {string[]} ours
 * @returns {TransferRequest[]}
 */
export function transferRequestsIn(entries, { memberId, thumbprint: ownThumbprint }, ours) {
  const answered = new Set(
    transferEntriesBy(entries, memberId, [...ours, ownThumbprint]).map((entry) => entry.said.for),
  );
  /** @type {Map<string, TransferRequest>} */
  const last = new Map();
  for (const {
    seq,
    thumbprint,
    said: { ask, up_to: upTo },
  } of transferEntriesBy(entries, memberId, ours)) {
    if (typeof ask === "string" && Number.isInteger(upTo) && upTo < seq)
      last.set(`${thumbprint}`, { ask, seq, upTo, thumbprint: `${thumbprint}` });
  }
  return [...last.values()].filter(
    ({ ask, upTo }) => !answered.has(ask) && entries.some((entry) => isTransferable(entry, upTo)),
  );
}

/** Decline a request. @param {Send} send @param {string} id @param {Pick<TransferRequest, "ask">} request */
export const refuseTransfer = (send, id, { ask }) => send(id, transferPayload({ for: ask }));

/**
 * Send the stored messages from before the requesting device joined.
 * @param {{store: Store, send: Send, upload: (id: string, data: ArrayBuffer) => Promise<string>}} parts
 *   @param
 *   {string} id @param {TransferRequest} request
 */
export async function sendTransfer({ store, send, upload }, id, { ask, upTo }) {
  const plain = packEntries(await store.under(HISTORY(id)), upTo);
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]));
  const by = toBase64(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const { data, digest } = await sealFile(plain, await sharedSecret(pair.privateKey, ask, ask + by));
  await send(
    id,
    transferPayload({ for: ask, by, file: { id: await upload(id, data), digest, bytes: plain.length } }),
  );
}

/** @param {Entry} entry @param {number} upTo */
const isTransferable = ({ seq, memberId, said: payload }, upTo) =>
  seq <= upTo && Boolean(memberId && payload) && payload.type !== TYPE;

/** @param {Entry} entry @returns {Entry} */
const withoutOtherFields = ({ seq, memberId, thumbprint, said, sentAtMs, tag }) => ({
  seq,
  memberId,
  thumbprint,
  said,
  sentAtMs,
  tag,
});

/**
 * Pack the entries up to `upTo`. If there are too many, keep the newest.
 * @param {Entry[]} all
 * @param {number} upTo
 */
export function packEntries(all, upTo) {
  let entries = all
    .filter((entry) => isTransferable(entry, upTo))
    .sort((a, b) => a.seq - b.seq)
    .slice(-MAX_ENTRIES)
    .map(withoutOtherFields);
  for (;;) {
    const plain = utf8(JSON.stringify(entries));
    if (plain.length <= MAX_BYTES) return plain;
    entries = entries.slice(Math.ceil(entries.length / 8));
  }
}

/**
 * Return another device's response to this device's request, or undefined.
 * @param {Store} store
 * @param {string} id
 * @param {Entry[]} entries
 * @param {Device} own
 * @param {string[]} ours
 * @returns {Promise<Payload | undefined>}
 */
export async function transferResponseIn(store, id, entries, { memberId }, ours) {
  const request = /** @type {StoredRequest | undefined} */ (await store.get(REQUEST(id)));
  return request?.state === "asked"
    ? transferEntriesBy(entries, memberId, ours).find((entry) => entry.said.for === request.ask)?.said
    : undefined;
}

/**
 * Import the messages that another of our devices has sent. If the network fails, reject with an error that
 * has a `code`, so that the import can be retried.
 * @param {{store: Store, fetchFile: (id: string, fileId: string) => Promise<ArrayBuffer>}} parts @param
 *   {string}
 *   id @param {Payload} answer
 */
export async function importTransfer({ store, fetchFile }, id, { for: answered, by, file }) {
  const { ask, key, state: now } = /** @type {StoredRequest} */ (await store.get(REQUEST(id)));
  if (now !== "asked" || ask !== answered) return;
  const finish = (/** @type {State} */ state) =>
    /** @type {Changes[number]} */ ([REQUEST(id), { ask, key: new Uint8Array(), state }]);
  if (!file) {
    await store.put([finish("refused")]);
    return;
  }
  try {
    const privateKey = await crypto.subtle.importKey("pkcs8", key, CURVE, false, ["deriveBits"]);
    const secret = toBase64(await sharedSecret(privateKey, by, ask + by));
    if (typeof file.id !== "string" || !isBytes(file.digest) || !(file.bytes <= MAX_BYTES))
      throw new TypeError("it is no such file");
    const entries = JSON.parse(
      textOf(
        await openFile(await fetchFile(id, file.id), { digest: file.digest, bytes: file.bytes, key: secret }),
      ),
    );
    await store.put([...(await importedChanges(store, id, entries)), finish("done")]);
  } catch (/** @type {any} */ error) {
    // Errors of the Web Crypto API have numeric codes.
    if (typeof error.code === "string" && !GONE.includes(error.code)) throw error;
    await store.put([finish("failed")]);
  }
}

/**
 * Return the changes that import entries. Never replace an entry that this device already has.
 * @param {Store} store
 * @param {string} id
 * @param {any[]} received
 * @returns {Promise<Changes>}
 */
async function importedChanges(store, id, received) {
  const since = /** @type {number} */ (await store.get(SINCE(id)));
  const present = new Set((await store.under(HISTORY(id))).map(({ seq }) => seq));
  const imported = received
    .slice(-MAX_ENTRIES)
    .filter((entry) => isEntry(entry) && isTransferable(entry, since) && !present.has(entry.seq))
    .map(withoutOtherFields);
  if (!imported.length) return [];
  const at = { seq: since, sentAtMs: Math.max(...imported.map(({ sentAtMs }) => sentAtMs)) };
  return [
    ...imported.map((entry) => /** @type {Changes[number]} */ ([HISTORY(id, entry.seq), entry])),
    [
      `changes/${id}/${since}.brought`,
      { ...at, added: [], removed: [], before: [], after: [], trouble: "brought" },
    ],
    [`read/${id}`, Math.max((await store.get(`read/${id}`)) ?? 0, since)],
  ];
}

/** @param {any} entry */
const isEntry = (entry) =>
  Number.isInteger(entry?.seq) &&
  entry.seq > 0 &&
  typeof entry.memberId === "string" &&
  typeof entry.thumbprint === "string" &&
  Number.isFinite(entry.sentAtMs) &&
  typeof entry.said === "object" &&
  !Array.isArray(entry.said);

/**
 * Derive 32 bytes that only the two devices with these key pairs can compute.
 * @param {CryptoKey} privateKey
 * @param {string} other
 * @param {string} both
 */
async function sharedSecret(privateKey, other, both) {
  const theirs = await crypto.subtle.importKey("raw", fromBase64(other), CURVE, false, []);
  const bits = await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, privateKey, 256);
  const shared = await crypto.subtle.importKey("raw", bits, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(
    await crypto.subtle.deriveBits(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8(INFO + both) },
      shared,
      256,
    ),
  );
}
