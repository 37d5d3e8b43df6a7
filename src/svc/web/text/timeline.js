// The list of messages: keeps its place while messages come and go above and below, separates the days,
// asks for more at either end, and says when the newest is on the screen. Knows one message only by its view.

import { make } from "./dom.js";
import { MessageView } from "./message.js";
import { day, sameDay } from "./times.js";

const NEAR_PX = 400; // So far from an end, more is fetched.
const AT_END_PX = 24; // Nobody scrolls to the very pixel.
const TOGETHER_MS = 5 * 60_000; // What somebody says within it stands under one name.

/** Events: "older" and "newer" when more is wanted, "seen" when what is on the screen may have changed. */
export class Timeline extends EventTarget {
  #box; #list; #on; #views = new Map(); #atEnd = true; #frame = 0;
  #top = 0; // Where we have scrolled to; above it, somebody else has.

  /** `box` scrolls, `list` in it holds the messages; `on` is what MessageView takes. */
  constructor(box, list, on) {
    super();
    this.#box = box;
    this.#list = list;
    this.#on = on;
    box.addEventListener("scroll", () => this.#scrolled());
    // Windows change their size, and composers grow.
    const observer = new ResizeObserver(() => this.#settle());
    for (const element of [box, list]) observer.observe(element);
  }

  /** Is the newest message on the screen? */
  get atEnd() {
    return this.#atEnd && this.#box.clientHeight > 0;
  }

  /** Start over, at the newest message. */
  clear() {
    this.#views.clear();
    this.#list.replaceChildren();
    this.#atEnd = true;
    this.#top = 0;
  }

  /** `messages`, the oldest first, of which `moreAfter` says whether newer ones are missing. */
  render(messages, context, moreAfter) {
    const anchor = this.#atEnd && !moreAfter ? null : this.#firstVisible();
    const byId = new Map(messages.map((message) => [message.id, message]));
    for (const [id, view] of this.#views) {
      if (byId.has(id)) continue;
      view.element.remove();
      this.#views.delete(id);
    }
    const wanted = messages.flatMap((message, index) => this.#lines(message, messages[index - 1], context, byId));
    this.#list.querySelectorAll(".day").forEach((line) => line.remove());
    let before = null;
    for (const line of wanted) {
      const place = before ? before.nextElementSibling : this.#list.firstElementChild;
      if (place !== line) this.#list.insertBefore(line, place);
      before = line;
    }
    if (anchor) this.#box.scrollTop += anchor.element.getBoundingClientRect().bottom - anchor.bottom;
    this.#settle();
  }

  /** `ids`: the Set of members who are there. */
  showOnline(ids) {
    for (const element of this.#list.querySelectorAll(".message")) {
      element.firstElementChild.classList.toggle("online", ids.has(element.dataset.author));
    }
  }

  toEnd() {
    this.#atEnd = true;
    this.#top = 0;
    this.#settle();
  }

  edit(id) {
    this.#views.get(id)?.edit();
  }

  #lines(message, previous, context, byId) {
    const view = this.#views.get(message.id) ?? new MessageView(this.#on);
    this.#views.set(message.id, view);
    view.update(message, context, byId.get(message.reply_to) ?? null);
    const newDay = !previous || !sameDay(previous.posted_at_ms, message.posted_at_ms);
    view.element.classList.toggle("follows", !newDay && together(previous, message));
    if (!newDay) return [view.element];
    return [make("li", { className: "day", role: "separator" }, make("span", {}, day(message.posted_at_ms))), view.element];
  }

  /** What shall stay where it is: the first message that can be seen, by its end, for its author's line may go. */
  #firstVisible() {
    const edge = this.#box.getBoundingClientRect().top;
    for (const element of this.#list.querySelectorAll(".message")) {
      const { bottom } = element.getBoundingClientRect();
      if (bottom > edge) return { element, bottom };
    }
    return null;
  }

  get #below() {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight;
  }

  #scrolled() {
    this.#atEnd = this.#below < AT_END_PX;
    this.#look();
  }

  /** Stay at the end if that is where we are, and look what is wanted then. */
  #settle() {
    // Whoever scrolls is told a frame later.
    if (this.#box.scrollTop < this.#top - AT_END_PX && this.#below >= AT_END_PX) this.#atEnd = false;
    if (this.#atEnd) {
      this.#box.scrollTop = this.#box.scrollHeight;
      this.#top = this.#box.scrollTop;
    }
    this.#look();
  }

  #look() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.#box.clientHeight) return;
      if (this.#box.scrollTop < NEAR_PX) this.dispatchEvent(new Event("older"));
      if (this.#below < NEAR_PX) this.dispatchEvent(new Event("newer"));
      this.dispatchEvent(new Event("seen"));
    });
  }
}

function together(previous, message) {
  const name = ({ author }) => `${author.id} ${author.display_name} ${author.avatar}`;
  return name(previous) === name(message) && message.posted_at_ms - previous.posted_at_ms < TOGETHER_MS && message.reply_to === null;
}
