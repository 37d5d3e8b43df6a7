// Implements this browser's device in private conversations: registers it, joins groups, reads logs, and
// sends messages. Stores all data before anything depends on it, so the page can be closed at any moment.
// Reads groups from the store each time, because other tabs may have changed them. See docs/private.md.

/**
 * @import { PrivateEntry } from "../../types/api.js"
 * @import { ResponseBody, Body, PathOf } from "../../types/wire.js"
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Payload } from "./content.js"
 * @import { Entry, Group } from "./apply_log_entry.js"
 * @import { Api } from "./other_devices.js"
 * @import { Store } from "./unsent_messages.js"
 */

import { historyStart } from "./history_messages.js";
import { afterEntry } from "./apply_log_entry.js";
import { createFrank } from "./franking.js";
import {
  agreementOf,
  begin,
  callKeysOf,
  commit,
  configOf,
  digestOf,
  epochOf,
  fromBase64,
  join,
  leavesOf,
  packed,
  seal,
  toBase64,
  unpacked,
  utf8,
} from "./mls.js";
import { chainFrom, chainPosition } from "./log_order.js";
import { leavesOfDevices, othersIn, packagesOf, reportResponse, reportProblem } from "./other_devices.js";
import { OwnKeys } from "./own_keys.js";
import {
  allWaiting,
  dropOutgoing,
  nextWaiting,
  removalOf,
  NoRecipientError,
  rejectionOf,
  notifies,
  storeUnsent,
  requeued,
} from "./unsent_messages.js";

const ATTEMPTS = 30; // The maximum number of consecutive attempts that other devices' commits may preempt.
const conversationPath = /** @type {PathOf<"/api/private/conversations">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/private/conversations/${encodeURIComponent(id)}${suffix}`
);

export class PrivateDevice {
  #api;
  #store;
  #keys;
  #memberId;
  #audience;
  #withLock;
  #now;
  #channelId;
  #inCall;

  /**
   * @param {object} parts
   * @param {Api} parts.api Sends a request. Rejects with `code` and `details`.
   * @param {Store} parts.store `get(name)`, `put([[name, value or undefined]])` (all or nothing), and
   *   `under(prefix)`.
   * @param {(claims: object) => Promise<string>} parts.sign Signs a statement with this browser's own key.
   * @param {string} parts.memberId @param {string} parts.audience @param {() => number} [parts.now]
   * @param {string | null} [parts.channelId] Set if this device is used only for the call in this channel and
   *   ignores conversations.
   * @param {Map<string, () => void>} [parts.inCall] For each conversation, a function to call when the keys
   *   of its call may have changed, before any other request is sent.
   * @param {<T>(act: () => Promise<T>) => Promise<T>} parts.withLock Runs `act` in one tab at a time.
   */
  constructor({
    api,
    store,
    sign,
    memberId,
    audience,
    now = Date.now,
    channelId = null,
    inCall = new Map(),
    withLock,
  }) {
    this.#channelId = channelId;
    this.#inCall = inCall;
    this.#api = api;
    this.#store = store;
    this.#memberId = memberId;
    this.#audience = audience;
    this.#keys = new OwnKeys({ api, store, sign, memberId, audience, now });
    this.#withLock = withLock;
    this.#now = now;
  }

  /** Register this device if needed, and publish key packages for other devices. */
  prepare() {
    return this.#withLock(() => this.#keys.prepare());
  }

  /**
   * Join groups to which this device has been added, add and remove devices as required, and read new
   * messages. Resolves with the conversations.
   * @param {string[] | null} only The conversations to read; null for all.
   */
  sync(only = null) {
    return this.#withLock(async () => {
      for (const id of only ?? [])
        if (this.#inCall.has(id) && (await this.#store.get(`group/${id}`)))
          await this.#readLog(id).catch((error) => reportResponse(error));
      await this.#joinAll();
      const { conversations } = await this.#api("GET", "/api/private/conversations");
      for (const { id } of conversations)
        if (!only || only.includes(id)) await this.#synchronise(id).catch((error) => reportResponse(error));
      return conversations;
    });
  }

  /**
   * Process the log of the group for the channel's call. Add and remove devices if `acts` is set or this
   * device comes first. Otherwise, resolve with the number of devices that come before this one, or with null
   * if there is nothing left to do.
   * @param {boolean} acts @returns {Promise<number | null>}
   */
  syncCall(acts) {
    return this.#withLock(async () => {
      const id = /** @type {string} */ (this.#channelId);
      if (!(await this.#store.get(`group/${id}`))) await this.#joinAll();
      return this.#synchronise(id, acts);
    });
  }

  /** Return the conversation with these members. Create it if needed. @param {string[]} memberIds */
  openWith = (memberIds) => this.#api("POST", "/api/private/conversations", { members: memberIds });

  /**
   * Send a message. If nobody can read the message yet, store it and reject with NoRecipientError.
   * @param {string} id
   * @param {Partial<Payload>} content The content, which is sent as JSON. Its `key` must be unique.
   */
  async send(id, content) {
    const payload = { key: crypto.randomUUID(), ...content };
    await storeUnsent(this.#store, id, payload, this.#now());
    return this.#withLock(async () => {
      // If another device has just created the group, it has added this device.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await this.#joinAll();
        await this.#synchronise(id);
        const left = (await allWaiting(this.#store, id)).find(({ said: { key } }) => key === payload.key);
        if (!left) return;
        if (left.refused) throw Object.assign(new Error(), left.refused);
      }
      const inside = await this.#store.get(`group/${id}`);
      throw new NoRecipientError(
        !inside && (await this.#api("GET", conversationPath(id))).epoch ? "outside" : "alone",
      );
    });
  }

  /** Delete a stored message that has not been encrypted yet. @param {string} id @param {string} key */
  discard(id, key) {
    return this.#withLock(() => this.#store.put([removalOf(id, { key })]));
  }

  /**
   * Return the history in order: [{seq, memberId, thumbprint, said, sentAtMs}]; `said` is null for an
   * unreadable entry.
   * @param {string} id
   * @returns {Promise<Entry[]>}
   */
  async history(id) {
    return (await this.#store.under(`history/${id}/`)).sort((a, b) => a.seq - b.seq);
  }

  /**
   * Return the state that all devices in the group share: {epoch, agreement, statements, callKeys()}. Return
   * null if this device is not in the group.
   * @param {string} id
   */
  async groupState(id) {
    const group = await this.#store.get(`group/${id}`);
    if (!group) return null;
    const state = this.#state(group);
    return {
      epoch: epochOf(state),
      agreement: agreementOf(state),
      statements: leavesOf(state).map(({ statement }) => statement),
      callKeys: () => callKeysOf(state),
    };
  }

  #config = (/** @type {string[] | null} */ members) =>
    configOf(this.#audience, (memberId) => !members || members.includes(memberId));
  #state = (/** @type {Group} */ group) => unpacked(group.state, this.#config(group.between));

  // --- Joining ---

  async #joinAll() {
    const query = new URLSearchParams(this.#channelId ? { channel_id: this.#channelId } : {});
    for (;;) {
      const { welcomes } = await this.#api("GET", `/api/private/welcomes?${query}`);
      if (!welcomes.length) return;
      for (const welcome of welcomes) {
        await this.#join(welcome);
        await this.#api("DELETE", `/api/private/welcomes/${encodeURIComponent(welcome.id)}`);
      }
    }
  }

  /** @param {ResponseBody<"GET", "/api/private/welcomes">["welcomes"][number]} welcome */
  async #join({ conversation_id: id, seq, welcome }) {
    /** @type {Group | undefined} */
    const before = await this.#store.get(`group/${id}`);
    if (before && before.seq >= seq) return; // Already processed, but the response to its deletion was lost.
    const conversation = await this.#api("GET", conversationPath(id)).catch((error) => {
      if (error.code !== "unknown_conversation") throw error;
      return null; // We have been removed in the meantime.
    });
    if (!conversation) return;
    const { between_two: two, members } = conversation;
    const between = two ? members : null;
    let joined = null;
    try {
      joined = await join(
        fromBase64(welcome),
        (ref) => this.#store.get(`package/${ref}`),
        this.#config(between),
      );
    } catch (error) {
      reportProblem(error); // The Welcome is invalid; another device can add us again.
    }
    if (!joined) {
      await this.#reportLost(id);
      return;
    }
    const used = await this.#store.get(`package/${joined.ref}`);
    /** @type {Changes} */
    const changes = [
      [
        `group/${id}`,
        {
          state: packed(joined.state),
          seq,
          between,
          outgoing: before?.outgoing ?? [],
          chain: chainFrom(joined.state, seq),
        },
      ],
    ];
    if (!used.last) changes.push([`package/${joined.ref}`, undefined]);
    if (!before) changes.push(...(await historyStart(this.#store, id, seq)));
    await this.#store.put(changes);
    this.#inCall.get(id)?.();
  }

  /**
   * Leave the group. Requeue messages that may not have reached the server, to send them in the next group.
   * @param {string} id
   * @param {Changes} changes
   */
  async #leaveGroup(id, changes = []) {
    const { outgoing = [] } = /** @type {Partial<Group>} */ ((await this.#store.get(`group/${id}`)) ?? {});
    await this.#store.put([
      [`group/${id}`, undefined],
      ...outgoing.map((message) => requeued(id, message)),
      ...changes,
    ]);
  }

  /** @param {string} id */
  async #reportLost(id) {
    await this.#leaveGroup(id);
    await this.#api("POST", conversationPath(id, "/lost"));
  }

  // --- Reading new log entries ---

  /**
   * Read all new entries, add and remove devices as the server requires, and send waiting messages.
   * @param {string} id
   * @param {boolean} [acts] see `syncCall`
   */
  async #synchronise(id, acts = true) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // A device that is in the call but not in its group asks to be added again, because it may have been
      // removed in error.
      if (
        (await this.#store.get(`group/${id}`)) &&
        !(await this.#readLog(id)) &&
        (!this.#channelId || (await this.#store.get(`group/${id}`)))
      )
        return null;
      const { changed, settled, turn = null } = await this.#updateGroup(id, acts);
      if (turn !== null) return turn;
      if (settled) break;
      if (!changed) return null;
    }
    await this.#sendWaiting(id);
    return null;
  }

  /** Read new log entries. Return false if this device is no longer in the group. @param {string} id */
  async #readLog(id) {
    for (;;) {
      const { seq } = await this.#store.get(`group/${id}`);
      let log;
      try {
        log = await this.#api("GET", conversationPath(id, `/log?after=${seq}`));
      } catch (/** @type {any} */ error) {
        if (error.code !== "unknown_conversation") throw error;
        return false;
      }
      if (log.since > seq) {
        await this.#leaveGroup(id); // We were added again, and a Welcome is waiting.
        return false;
      }
      // Either the next entry has expired, or the server was restored from a backup.
      if (log.seq < seq || (log.seq > seq && log.first_seq > seq + 1)) {
        await this.#reportLost(id);
        return false;
      }
      if (!log.entries.length) {
        this.#inCall.get(id)?.(); // Another tab may have processed the commit and changed the keys.
        return true;
      }
      for (const entry of log.entries) if (!(await this.#applyEntry(id, entry))) return false;
    }
  }

  /** @param {string} id @param {PrivateEntry} entry */
  async #applyEntry(id, entry) {
    /** @type {Group} */
    const group = await this.#store.get(`group/${id}`);
    if (entry.seq <= group.seq) return true;
    const { statement } = await this.#keys.identity();
    const unpack = (/** @type {Uint8Array} */ data) => unpacked(data, this.#config(group.between));
    const chainAt = async (/** @type {number} */ seq) =>
      (await this.#store.get(`history/${id}/${seq}`))?.chain;
    const { next, changes, lost } = await afterEntry(id, group, entry, {
      unpack,
      audience: this.#audience,
      statement,
      chainAt,
    });
    if (next) {
      await this.#store.put([[`group/${id}`, next], ...changes]);
      if (entry.kind === "commit") this.#inCall.get(id)?.();
    } else await this.#leaveGroup(id, changes);
    // The entry cannot be applied to our state, so another device must add this device again.
    if (lost) await this.#reportLost(id);
    return Boolean(next);
  }

  /**
   * Add missing devices to the group and remove devices that are gone. Return {changed, settled}: whether
   * anything has changed, and whether there is nothing left to do.
   * @param {string} id @param {boolean} [acts] see `syncCall` @returns {Promise<{changed: boolean, settled:
   *   boolean, turn?: number}>}
   */
  async #updateGroup(id, acts = true) {
    const conversation = await this.#api("GET", conversationPath(id));
    const { seq, devices, lacking, members, between_two: two } = conversation;
    // If the group has no device left that can add others, create the group again.
    const epoch = devices.some((device) => !device.gone) ? conversation.epoch : 0;
    const own = await this.#keys.identity();
    /** @type {Group | null | undefined} */
    let group = await this.#store.get(`group/${id}`);
    if (group && epoch === 0 && (epochOf(this.#state(group)) > 0 || group.seq !== seq)) group = null;
    if (epoch > 0 && !devices.some((device) => device.id === own.id && !device.gone)) {
      if (group) await this.#leaveGroup(id);
      return { changed: false, settled: false };
    }
    if (epoch > 0 && !group) {
      // The Welcome may have just arrived. Otherwise the keys are lost, and another device must add us again.
      await this.#joinAll();
      const joined = Boolean(await this.#store.get(`group/${id}`));
      if (!joined) await this.#reportLost(id);
      return { changed: joined, settled: false };
    }
    // The group has advanced since we read it.
    if (group && group.seq !== seq) return { changed: true, settled: false };
    const gone = epoch ? devices.filter((device) => device.gone && device.id !== own.id) : [];
    const wanted = lacking.filter((device) => device.id !== own.id);
    if (!acts && (gone.length || wanted.length)) {
      const present = epoch ? devices.filter((device) => !device.gone) : lacking;
      const turn = present.findIndex((device) => device.id === own.id);
      if (turn > 0) return { changed: false, settled: false, turn };
    }
    const between = group ? group.between : two ? members : null;
    const packages = wanted.length ? await packagesOf(this.#api, id, wanted, between, this.#audience) : [];
    if (!gone.length && !packages.length) return { changed: false, settled: Boolean(group) };
    const state = group
      ? this.#state(group)
      : await begin(id, await this.#keys.package(), this.#config(between));
    const leaves = await leavesOfDevices(state, gone, this.#audience);
    const made = await commit(state, packages, leaves);
    const pending = {
      digest: await digestOf(made.message),
      state: packed(made.state),
      adds: packages.length > 0,
    };
    const before = group ?? { state: packed(state), seq, between, outgoing: [] };
    await this.#store.put([[`group/${id}`, { ...before, pending }]]);
    /** @type {Body<"POST", "/api/private/conversations/{}/commits">} */
    const body = {
      commit: toBase64(made.message),
      removed: gone.map((device) => device.id),
      after: before.seq,
    };
    if (made.welcome) body.welcome = toBase64(made.welcome);
    try {
      await this.#api("POST", conversationPath(id, "/commits"), body);
    } catch (/** @type {any} */ error) {
      if (error.code !== "epoch_passed") throw error;
      if (epoch === 0) await this.#leaveGroup(id); // Another device created the group and will add us.
    }
    return { changed: true, settled: false };
  }

  // --- Sending ---

  /**
   * Encrypt a message for the current epoch, and store it until the server has received it.
   * @param {string} id
   * @param {Payload} payload
   * @param {number} atMs
   */
  async #encrypt(id, payload, atMs) {
    /** @type {Group} */
    const group = await this.#store.get(`group/${id}`);
    const { frank, commitment, shown } = await createFrank(payload);
    const { state, message } = await seal(
      this.#state(group),
      utf8(JSON.stringify({ ...payload, ...chainPosition(group), frank })),
      shown,
    );
    const digest = await digestOf(message);
    const outgoing = [...group.outgoing, { said: payload, atMs, message, commitment, digest }];
    await this.#store.put([
      [`group/${id}`, { ...group, state: packed(state), outgoing }],
      removalOf(id, payload),
    ]);
  }

  /** Send waiting messages. Encrypt a message again if its epoch has passed. @param {string} id */
  async #sendWaiting(id) {
    for (let attempt = 0; attempt < ATTEMPTS; ) {
      /** @type {Group | undefined} */
      const group = await this.#store.get(`group/${id}`);
      const [first] = group?.outgoing ?? [];
      if (!group || (!first && !(await this.#encryptNext(id, group)))) return;
      if (!first) continue;
      if (!first.commitment) {
        // This message was encrypted by an earlier version, without a franking commitment.
        if (!(await this.#readLog(id))) return;
        if (await dropOutgoing(this.#store, id, first)) await this.#encrypt(id, first.said, first.atMs);
        continue;
      }
      try {
        await this.#api("POST", conversationPath(id, "/messages"), {
          message: toBase64(first.message),
          commitment: toBase64(first.commitment),
          after: group.seq,
          ring: notifies(first.said),
        });
        if (!(await this.#readLog(id))) return;
      } catch (/** @type {any} */ error) {
        attempt += 1;
        if (!["epoch_passed", "devices_changed"].includes(error.code)) {
          if (!(error.status >= 400 && error.status < 500 && error.status !== 429)) throw error;
          await dropOutgoing(this.#store, id, first, [rejectionOf(id, first.said, first.atMs, error)]);
          continue;
        }
        if (!(await this.#readLog(id))) return;
        if (error.code === "devices_changed") {
          await this.#updateGroup(id);
          if (!(await this.#readLog(id))) return;
        }
        if (await dropOutgoing(this.#store, id, first)) await this.#encrypt(id, first.said, first.atMs);
      }
    }
  }

  /**
   * Encrypt the next waiting message. Return false if there is none or nobody could read it.
   * @param {string} id
   * @param {Group} group
   */
  async #encryptNext(id, group) {
    const next = await nextWaiting(this.#store, id);
    if (!next || !(await othersIn(this.#state(group), this.#memberId, this.#audience)).length) return false;
    await this.#encrypt(id, next.said, next.atMs);
    return true;
  }
}
