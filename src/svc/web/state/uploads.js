// Files on their way into one message: sent, then checked by the server, then ready to be attached. Hears of the
// second part by pushes. What was cut off goes on where it stopped when the server is there again.

import { Backoff, pause } from "../transport/backoff.js";
import { Refusal } from "../transport/http.js";
import { sendFile } from "../transport/upload.js";
import { signal } from "../vendor/signals.js";
import { explain, t } from "../words/words.js";
import { accessToken, api, listen } from "./server.js";
import { partsOf } from "./spot.js";

const MOST = 10; // A message takes no more.
const MOST_TRIES = 5; // At letting go of one whose last piece the server still reads.

const FRESH = { state: "sending", progress: 0, waits: false, cut: false, problem: "", result: null };

let nextKey = 1;

/**
 * One file: {key, file, name, state, progress, waits, cut, problem, id, result, alt}; state is "sending" (`waits`: for the
 * line to come back), "checking", "done" or "refused" (`cut`: by the line, and can go on).
 */
export class Uploads {
  list = signal([]);

  #spot; #stops = new Map();

  constructor(spot) {
    this.#spot = spot;
  }

  /** Ids of those that can be attached. */
  get ready() {
    return this.list.value.filter(({ state }) => state === "done").map(({ id }) => id);
  }

  /** Is one of them neither there nor refused? */
  get pending() {
    return this.list.value.some(({ state }) => state === "sending" || state === "checking");
  }

  /** Send these files; says whether there was room for all. */
  add(files) {
    const taken = [...files].slice(0, MOST - this.list.value.length);
    for (const file of taken) this.#begin(file);
    return taken.length === files.length;
  }

  /** Try a file again that was refused, or go on with one that was cut off. */
  retry(key) {
    const upload = this.#find(key);
    if (!upload?.file) return;
    this.#change(key, { ...FRESH, id: upload.cut ? upload.id : null });
    this.#send(key);
  }

  /** Let one go, here and on the server. */
  cancel(key) {
    const upload = this.#find(key);
    this.#stops.get(key)?.abort();
    this.#drop(key);
    if (upload?.id) letGo(upload.id);
  }

  /** Send nothing more. */
  stop() {
    for (const each of this.#stops.values()) each.abort();
  }

  /** Say what a picture shows. */
  async describe(key, alt) {
    const { id } = this.#find(key);
    await api("PUT", `/api/uploads/${id}/alt`, { alt });
    this.#change(key, { alt });
  }

  /** These hang on a message now; gives them back. */
  attached(ids) {
    const taken = this.list.value.filter(({ id }) => ids.includes(id));
    this.list.value = this.list.value.filter(({ id }) => !ids.includes(id));
    return taken;
  }

  /** Take up those that a draft holds. */
  async restore(ids) {
    const missing = ids.filter((id) => !this.list.value.some((upload) => upload.id === id));
    for (const id of missing) {
      const told = await api("GET", `/api/uploads/${id}`).catch(() => null);
      if (!told) continue;
      const upload = { ...FRESH, key: nextKey++, file: null, name: told.name, state: "checking", id, alt: told.alt };
      this.list.value = [...this.list.value, upload];
      this.#take(upload.key, told);
    }
  }

  hear(event, data) {
    const id = data.upload_id ?? data.id;
    const upload = this.list.value.find((other) => other.id === id);
    if (upload) this.#hearOf(upload.key, event, data);
  }

  /** Go on with what was cut off, and ask how those stand that are being checked: we may have missed what was pushed. */
  async ask() {
    for (const { key, cut } of this.list.value) if (cut) this.retry(key);
    for (const { key, id } of this.list.value.filter(({ state }) => state === "checking")) {
      try {
        this.#take(key, await api("GET", `/api/uploads/${id}`));
      } catch (error) {
        if (error instanceof Refusal && !error.passes) this.#refuse(key, explain(error));
      }
    }
  }

  #begin(file) {
    const key = nextKey++;
    this.list.value = [...this.list.value, { ...FRESH, key, file, name: file.name, id: null, alt: "" }];
    this.#send(key);
  }

  async #send(key) {
    const stop = new AbortController();
    this.#stops.set(key, stop);
    const { file, id } = this.#find(key);
    try {
      await sendFile(`/api/channels/${encodeURIComponent(partsOf(this.#spot).channelId)}/uploads`, file, {
        id: id ?? "",
        token: accessToken,
        signal: stop.signal,
        begun: (given) => this.#change(key, { id: given }),
        progressed: (progress) => this.#change(key, { progress, waits: false }),
        waits: () => this.#change(key, { waits: true }),
      });
      // A push may have told already how it ended.
      if (this.#find(key)?.state === "sending") this.#change(key, { state: "checking", progress: 0, waits: false });
    } catch (error) {
      const cut = error.code === "unreachable";
      this.#change(key, { state: "refused", problem: cut ? t("upload-cut-off") : explain(error), cut });
    }
    this.#stops.delete(key);
  }

  #take(key, { id, state, result, refusal }) {
    if (state === "done") this.#change(key, { id, state: "done", result });
    else if (state === "refused") this.#refuse(key, explain(refusal), id);
    else this.#change(key, { id, state: "checking", progress: 0 });
  }

  #hearOf(key, event, data) {
    if (event === "upload_progress") this.#change(key, { progress: data.progress });
    else if (event === "upload_done") this.#take(key, data);
    else if (event === "upload_refused") this.#refuse(key, explain(data));
  }

  #refuse(key, problem, id = null) {
    this.#change(key, { state: "refused", problem, ...(id && { id }) });
  }

  #find(key) {
    return this.list.value.find((upload) => upload.key === key);
  }

  #drop(key) {
    this.list.value = this.list.value.filter((upload) => upload.key !== key);
  }

  #change(key, changes) {
    this.list.value = this.list.value.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload));
  }
}

/** Nothing waits for this: what stays on the server is forgotten after a day. */
async function letGo(id) {
  const backoff = new Backoff(500, 4000);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const error = await api("DELETE", `/api/uploads/${id}`).catch((refusal) => refusal);
    if (error?.code !== "upload_busy") return;
    await pause(backoff.next());
  }
}

const bySpot = new Map();

/** The files of the message that is being written in this spot. */
export function uploadsOf(spot) {
  if (!bySpot.has(spot)) bySpot.set(spot, new Uploads(spot));
  return bySpot.get(spot);
}

/** Is a file on its way in any channel? */
export const anyPending = () => [...bySpot.values()].some(({ pending }) => pending);

listen({
  greet() {
    for (const uploads of bySpot.values()) uploads.ask();
  },
  resume() {
    for (const uploads of bySpot.values()) uploads.ask();
  },
  hear(event, data) {
    if (event.startsWith("upload_")) for (const uploads of bySpot.values()) uploads.hear(event, data);
  },
  forget() {
    for (const uploads of bySpot.values()) uploads.stop();
    bySpot.clear();
  },
});
