// Who is typing in the channel that is open, for as long as that is good, in a sentence.

const GOOD_MS = 6000;

export class Typing {
  #line; #name; #timers = new Map(); #names = new Map();

  /** `line` shows it; `name(memberId)` resolves with what they are called. */
  constructor(line, name) {
    this.#line = line;
    this.#name = name;
  }

  async heard(memberId) {
    clearTimeout(this.#timers.get(memberId));
    this.#timers.set(memberId, setTimeout(() => this.stopped(memberId), GOOD_MS));
    if (!this.#names.has(memberId)) {
      const name = await this.#name(memberId).catch(() => "Somebody");
      // They may have sent it, or we may have left, in the meantime.
      if (!this.#timers.has(memberId)) return;
      this.#names.set(memberId, name);
    }
    this.#show();
  }

  stopped(memberId) {
    clearTimeout(this.#timers.get(memberId));
    this.#timers.delete(memberId);
    this.#names.delete(memberId);
    this.#show();
  }

  clear() {
    for (const memberId of [...this.#timers.keys()]) this.stopped(memberId);
  }

  #show() {
    const names = [...this.#names.values()];
    const who = names.length > 3 ? "Several people" : new Intl.ListFormat("en").format(names);
    this.#line.textContent = names.length ? `${who} ${names.length === 1 ? "is" : "are"} typing…` : "";
  }
}
