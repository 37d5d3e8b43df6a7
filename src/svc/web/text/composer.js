// Where messages are written: a draft for each channel, with its files. What was not acknowledged stays,
// and is sent again under the same nonce, so that it is there once. Sends nothing itself.

import { make } from "./dom.js";
import { Uploads } from "./uploads.js";

const TYPING_EVERY_MS = 3000; // The server passes it on no more often.
const HIGHEST_PX = 160;

const byId = (id) => document.getElementById(id);

export class Composer {
  #on; #drafts = new Map(); #draft = null; #channelId = null; #mayAttach = false; #typedAt = 0;
  #form = byId("composer"); #field = byId("draft"); #files = byId("files");

  /** `on`: {send: async (channelId, {text, nonce, attachments}), typing: (channelId), editLast, token: async () => token}. */
  constructor(on) {
    this.#on = on;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#field.addEventListener("input", () => this.#typed());
    this.#field.addEventListener("keydown", (event) => this.#pressed(event));
    byId("attach").addEventListener("click", () => this.#files.click());
    this.#files.addEventListener("change", () => {
      this.#attach(this.#files.files);
      this.#files.value = "";
    });
    this.#takeFiles();
  }

  /** Write into this channel from now on. */
  open({ id, name }) {
    this.#channelId = id;
    if (!this.#drafts.has(id)) this.#drafts.set(id, this.#newDraft(id));
    this.#draft = this.#drafts.get(id);
    this.#field.setAttribute("aria-label", `Message to ${name}`);
    this.#field.placeholder = `Message to ${name}`;
    this.#show();
  }

  /** What is allowed here. */
  allow({ send, attach }) {
    this.#mayAttach = send && attach;
    this.#field.disabled = byId("send").disabled = !send;
    byId("attach").hidden = !this.#mayAttach;
    if (!send) this.#field.placeholder = "You may read here, not write.";
  }

  focus() {
    this.#field.focus();
  }

  insert(text) {
    this.#field.setRangeText(text, this.#field.selectionStart, this.#field.selectionEnd, "end");
    this.#typed();
    this.focus();
  }

  hear(event, data) {
    if (event.startsWith("upload_")) for (const { uploads } of this.#drafts.values()) uploads.hear(event, data);
    // The answer may have been lost, but the message is there.
    if (event === "message_posted" && data.nonce) {
      for (const draft of this.#drafts.values()) if (draft.attempt?.nonce === data.nonce) this.#sent(draft);
    }
  }

  /** After a lost connection. */
  askAgain() {
    for (const { uploads } of this.#drafts.values()) uploads.ask();
  }

  /** Be somebody else's. */
  forget() {
    this.#drafts.clear();
    this.#draft = null;
  }

  #newDraft(channelId) {
    const uploads = new Uploads(channelId, this.#on.token);
    const draft = { text: "", uploads, attempt: null, busy: false, note: "" };
    uploads.addEventListener("change", () => {
      if (this.#draft === draft) this.#show();
    });
    return draft;
  }

  #takeFiles() {
    const files = (transfer) => (this.#mayAttach && transfer ? [...transfer.files] : []);
    this.#field.addEventListener("paste", (event) => {
      if (!files(event.clipboardData).length) return;
      event.preventDefault();
      this.#attach(files(event.clipboardData));
    });
    const target = byId("text");
    target.addEventListener("dragover", (event) => {
      // Else the browser would leave us for the file.
      event.preventDefault();
      event.dataTransfer.dropEffect = this.#mayAttach ? "copy" : "none";
    });
    target.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#attach(files(event.dataTransfer));
    });
  }

  #attach(files) {
    if (!files.length) return;
    const room = this.#draft.uploads.add(files);
    this.#say(this.#draft, room ? "" : "A message takes ten files.");
    this.focus();
  }

  #pressed(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "ArrowUp" && !this.#field.value) {
      event.preventDefault();
      this.#on.editLast();
    }
  }

  #typed() {
    this.#draft.text = this.#field.value;
    this.#grow();
    const now = performance.now();
    if (!this.#draft.text.trim() || (this.#typedAt && now - this.#typedAt < TYPING_EVERY_MS)) return;
    this.#typedAt = now;
    this.#on.typing(this.#channelId);
  }

  async #submit() {
    const [draft, channelId] = [this.#draft, this.#channelId];
    const { text, uploads, busy } = draft;
    if (busy || (!text.trim() && !uploads.list.length)) return;
    if (uploads.pending) return this.#say(draft, "The files are still on their way.");
    const attachments = uploads.ready;
    if (!text.trim() && !attachments.length) return;
    // The same again is the same message, whether or not the first attempt has come through.
    const same = draft.attempt?.text === text && String(draft.attempt.attachments) === String(attachments);
    if (!same) draft.attempt = { text, attachments, nonce: crypto.randomUUID() };
    draft.busy = true;
    this.#say(draft, "");
    try {
      await this.#on.send(channelId, draft.attempt);
      this.#sent(draft);
    } catch (error) {
      this.#say(draft, `Not sent. ${error.message}`);
    } finally {
      draft.busy = false;
    }
  }

  /** Take what has been sent out of the draft; what was written since stays. */
  #sent(draft) {
    if (!draft.attempt) return;
    const { text, attachments } = draft.attempt;
    draft.attempt = null;
    if (draft.text.startsWith(text)) draft.text = draft.text.slice(text.length).trimStart();
    draft.note = "";
    this.#typedAt = 0;
    draft.uploads.attached(attachments);
    if (draft === this.#draft) this.#show();
  }

  #say(draft, note) {
    draft.note = note;
    if (draft === this.#draft) this.#show();
  }

  #show() {
    const { text, uploads, note } = this.#draft;
    if (this.#field.value !== text) this.#field.value = text;
    byId("composer-note").textContent = note;
    byId("upload-list").replaceChildren(...uploads.list.map((upload) => this.#shownUpload(upload)));
    this.#grow();
  }

  #shownUpload(upload) {
    const { name, state, progress, problem, result } = upload;
    const preview = result && (result.thumbnail ?? result.poster ?? (result.content_type.startsWith("image/") ? result : null));
    const cancel = make("button", { type: "button", className: "link", "aria-label": `Remove ${name}` }, "Remove");
    cancel.addEventListener("click", () => this.#draft.uploads.cancel(upload));
    const words = { sending: "Sending", checking: "Checking", done: "Ready", refused: problem }[state];
    return make(
      "li",
      { "data-state": state },
      preview ? make("img", { src: preview.url, alt: "", width: 40, height: 40 }) : null,
      make("span", { className: "upload-name" }, name),
      make("span", { className: state === "refused" ? "error" : "quiet" }, words),
      state === "sending" || state === "checking" ? make("progress", { max: 1, value: progress, "aria-label": `${words} ${name}` }) : null,
      cancel,
    );
  }

  #grow() {
    this.#field.style.height = "auto";
    this.#field.style.height = `${Math.min(HIGHEST_PX, this.#field.scrollHeight + 2)}px`;
  }
}
