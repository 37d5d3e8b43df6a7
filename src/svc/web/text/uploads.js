// Files on their way into one message: sent, then checked and written anew by the server, then ready to
// be attached. Hears of the second part by pushes. Draws nothing.

import { get, remove, Refusal } from "../api.js";

const MOST = 10; // A message takes no more.

/**
 * Events: "change", after anything in `list` has: [{name, state, progress, problem, id, result}]; state is
 * "sending", "checking", "done" or "refused".
 */
export class Uploads extends EventTarget {
  list = [];

  // What was told of uploads whose ids we do not know yet: the push may overtake the answer.
  #early = new Map(); #channelId; #token;

  /** `token()` resolves with an access token. */
  constructor(channelId, token) {
    super();
    this.#channelId = channelId;
    this.#token = token;
  }

  get ready() {
    return this.list.filter(({ state }) => state === "done").map(({ id }) => id);
  }

  /** Is one of them neither there nor refused? */
  get pending() {
    return this.list.some(({ state }) => state === "sending" || state === "checking");
  }

  /** Send these files, one connection each; says whether there was room for all. */
  add(files) {
    const taken = [...files].slice(0, MOST - this.list.length);
    for (const file of taken) this.#begin(file);
    return taken.length === files.length;
  }

  /** Let one go, here and on the server. */
  cancel(upload) {
    upload.request?.abort();
    this.#drop((other) => other === upload);
    if (upload.id) this.#token().then((token) => remove(`/api/uploads/${upload.id}`, token)).catch(() => {});
  }

  /** These hang on a message now. */
  attached(ids) {
    this.#drop(({ id }) => ids.includes(id));
  }

  hear(event, data) {
    const id = data.upload_id ?? data.id;
    const upload = this.list.find((other) => other.id === id);
    if (upload) this.#hearOf(upload, event, data);
    else if (this.list.some(({ state }) => state === "sending")) this.#early.set(id, [event, data]);
  }

  /** Ask how those stand that are being checked: we may have missed what was pushed. */
  async ask() {
    for (const upload of this.list.filter(({ state }) => state === "checking")) {
      try {
        this.#take(upload, await get(`/api/uploads/${upload.id}`, await this.#token()));
      } catch (error) {
        if (error instanceof Refusal && !error.passes) this.#refuse(upload, error.message);
      }
    }
  }

  async #begin(file) {
    const upload = { name: file.name, state: "sending", progress: 0, problem: "", id: null, result: null, request: new XMLHttpRequest() };
    this.list = [...this.list, upload];
    this.#changed();
    try {
      this.#take(upload, await this.#send(upload, file, await this.#token()));
    } catch (error) {
      this.#refuse(upload, error.message);
    }
    const early = this.#early.get(upload.id);
    if (early) this.#hearOf(upload, ...early);
    if (!this.list.some(({ state }) => state === "sending")) this.#early.clear();
  }

  /** With XMLHttpRequest, for fetch does not say how far it is. */
  #send(upload, file, token) {
    const { request } = upload;
    request.open("POST", `/api/channels/${encodeURIComponent(this.#channelId)}/uploads`);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      upload.progress = total ? loaded / total : 0;
      this.#changed();
    });
    const body = new FormData();
    body.append("file", file, file.name);
    request.send(body);
    return new Promise((resolve, reject) => {
      request.addEventListener("load", () => {
        if (request.status === 201) resolve(request.response);
        else reject(new Refusal(request.response ?? { error: "internal", message: "The server did not take the file." }, request.status));
      });
      request.addEventListener("error", () => reject(new Error("The connection was lost. Remove the file and try again.")));
      request.addEventListener("abort", () => reject(new Error("Cancelled.")));
    });
  }

  #take(upload, { id, state, result, refusal }) {
    upload.id = id;
    if (state === "done") Object.assign(upload, { state: "done", result });
    else if (state === "refused") this.#refuse(upload, refusal.message);
    else Object.assign(upload, { state: "checking", progress: 0 });
    this.#changed();
  }

  #hearOf(upload, event, data) {
    if (event === "upload_progress") upload.progress = data.progress;
    else if (event === "upload_done") return this.#take(upload, data);
    else if (event === "upload_refused") return this.#refuse(upload, data.message);
    return this.#changed();
  }

  #refuse(upload, problem) {
    Object.assign(upload, { state: "refused", problem });
    this.#changed();
  }

  #drop(which) {
    this.list = this.list.filter((upload) => !which(upload));
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
