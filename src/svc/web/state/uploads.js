// Files on their way into one message: sent, then checked by the server, then ready to be attached. Hears of the
// second part by pushes.

import { signal } from "../vendor/signals.js";
import { Refusal } from "../transport/http.js";
import { sendFile } from "../transport/upload.js";
import { explain, t } from "../words/words.js";
import { accessToken, api, listen } from "./server.js";
import { partsOf } from "./spot.js";

const MOST = 10; // A message takes no more.

let nextKey = 1;

/** One file: {key, file, name, state, progress, problem, id, result, alt}; state is "sending", "checking", "done" or "refused". */
export class Uploads {
  list = signal([]);

  // What was told of uploads whose ids we do not know yet: the push may overtake the answer.
  #early = new Map(); #spot; #stops = new Map();

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

  /** Try a file again that was refused or cut off. */
  retry(key) {
    const upload = this.#find(key);
    this.#drop(key);
    if (upload?.file) this.#begin(upload.file);
  }

  /** Let one go, here and on the server. */
  cancel(key) {
    const upload = this.#find(key);
    this.#stops.get(key)?.abort();
    this.#drop(key);
    if (upload?.id) api("DELETE", `/api/uploads/${upload.id}`).catch(() => {});
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
      const upload = { key: nextKey++, file: null, name: told.name, state: "checking", progress: 0, problem: "", id, result: null, alt: told.alt };
      this.list.value = [...this.list.value, upload];
      this.#take(upload.key, told);
    }
  }

  hear(event, data) {
    const id = data.upload_id ?? data.id;
    const upload = this.list.value.find((other) => other.id === id);
    if (upload) this.#hearOf(upload.key, event, data);
    else if (this.list.value.some(({ state }) => state === "sending")) this.#early.set(id, [event, data]);
  }

  /** Ask how those stand that are being checked: we may have missed what was pushed. */
  async ask() {
    for (const { key, id } of this.list.value.filter(({ state }) => state === "checking")) {
      try {
        this.#take(key, await api("GET", `/api/uploads/${id}`));
      } catch (error) {
        if (error instanceof Refusal && !error.passes) this.#refuse(key, explain(error));
      }
    }
  }

  async #begin(file) {
    const key = nextKey++;
    const stop = new AbortController();
    this.#stops.set(key, stop);
    const fresh = { key, file, name: file.name, state: "sending", progress: 0, problem: "", id: null, result: null, alt: "" };
    this.list.value = [...this.list.value, fresh];
    try {
      const path = `/api/channels/${encodeURIComponent(partsOf(this.#spot).channelId)}/uploads`;
      const progressed = (progress) => this.#change(key, { progress });
      this.#take(key, await sendFile(path, file, { token: await accessToken(), progressed, signal: stop.signal }));
    } catch (error) {
      this.#refuse(key, error.code === "unreachable" ? t("upload-cut-off") : explain(error));
    }
    this.#stops.delete(key);
    const early = this.#early.get(this.#find(key)?.id);
    if (early) this.#hearOf(key, ...early);
    if (!this.list.value.some(({ state }) => state === "sending")) this.#early.clear();
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
    bySpot.clear();
  },
});
