// One message in the list. Draws what it is given, part by part, so that a video plays on when somebody
// reacts; reports what its author or a reader wants. Asks nobody.

import { hue, portray } from "../avatar.js";
import { card } from "./card.js";
import { make } from "./dom.js";
import { markdown } from "./markdown.js";
import { attachment } from "./media.js";
import { picker, reactionList } from "./reactions.js";
import { clock } from "./times.js";

const MOST_QUOTED = 120;

/**
 * `context`: {ownId, blocked, emoji, may: (permission) => boolean}; `on`: {edit, remove, react, pin, mention},
 * each called with the message first, and `edited`, when the keyboard has nothing to do here any more.
 */
export class MessageView {
  element = make("li", { className: "message" });

  #on; #message = null; #context = null; #replied = null; #sure = false;
  #avatar = make("span", { className: "avatar" }); #byline = make("p", { className: "byline" });
  #reply = make("p", { className: "replied quiet" }); #text = make("div", { className: "text" });
  #media = make("div", { className: "media" }); #reactions = make("div"); #actions = make("div", { className: "actions", role: "group" });
  #editor = null;

  constructor(on) {
    this.#on = on;
    const body = make("div", { className: "body" }, this.#byline, this.#reply, this.#text, this.#media, this.#reactions);
    this.element.append(this.#avatar, body, this.#actions);
  }

  /** Show the message; `replied` is the one that it replies to, where that is at hand. */
  update(message, context, replied) {
    const [before, newContext] = [this.#message, context !== this.#context];
    if (before === message && !newContext && replied === this.#replied) return;
    Object.assign(this.element.dataset, { id: message.id, author: message.author.id });
    [this.#message, this.#context, this.#replied] = [message, context, replied];
    this.#showAuthor();
    this.#reply.hidden = message.reply_to === null;
    this.#reply.textContent = message.reply_to && `In reply to ${quoted(replied)}`;
    if (newContext || before?.text !== message.text) this.#showText();
    if (newContext || before?.attachments !== message.attachments) this.#showMedia();
    this.#reactions.replaceChildren(reactionList(message.reactions, this.#reacting()));
    // Who is about to press one of them shall not lose it.
    if (!this.#actions.contains(document.activeElement)) this.#showActions();
    this.element.classList.toggle("mentions-me", message.mentions.includes(context.ownId));
  }

  /** Write the text anew, in its place. */
  edit() {
    if (this.#editor) return;
    const field = make("textarea", { value: this.#message.text, maxLength: 4000, rows: 3, "aria-label": "Change the message" });
    const trouble = make("span", { className: "error", role: "alert" });
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") this.#endEditing();
      else if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        this.#save(field, trouble);
      }
    });
    const [save, cancel] = [button("Save", () => this.#save(field, trouble)), button("Cancel", () => this.#endEditing())];
    this.#editor = make("div", { className: "editor" }, field, make("p", {}, save, cancel, trouble));
    this.#text.replaceWith(this.#editor);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  async #save(field, trouble) {
    field.readOnly = true;
    try {
      if (field.value !== this.#message.text) await this.#on.edit(this.#message, field.value);
      this.#endEditing();
    } catch (error) {
      field.readOnly = false;
      trouble.textContent = error.message;
    }
  }

  #endEditing() {
    this.#editor?.replaceWith(this.#text);
    this.#editor = null;
    this.#on.edited();
  }

  #showAuthor() {
    const { author, posted_at_ms: postedAt, edited_at_ms: editedAt, pinned } = this.#message;
    portray(this.#avatar, { id: author.id, name: author.display_name, url: author.avatar });
    const isMember = author.kind === "member";
    const name = make(isMember ? "button" : "strong", { className: "author" }, author.display_name);
    if (isMember) {
      Object.assign(name, { type: "button", title: `Mention ${author.display_name}` });
      name.addEventListener("click", () => this.#on.mention(this.#message));
    }
    name.style.setProperty("--hue", hue(author.id));
    const marks = [!isMember && "webhook", editedAt && "edited", pinned && "pinned"].filter(Boolean);
    this.#byline.replaceChildren(name, clock(postedAt), ...marks.map((mark) => make("span", { className: "mark" }, mark)));
  }

  get #isBlocked() {
    return this.#context.blocked.has(this.#message.author.id);
  }

  #showText() {
    if (this.#isBlocked) this.#text.replaceChildren(make("p", { className: "quiet" }, "You have blocked this member."));
    else this.#text.replaceChildren(markdown(this.#message.text, this.#context.ownId));
  }

  #showMedia() {
    const { attachments, cards } = this.#message;
    const shown = this.#isBlocked ? [] : [...attachments.map(attachment), ...cards.map((each) => card(each, this.#context.ownId))];
    this.#media.replaceChildren(...shown);
  }

  #reacting() {
    const { ownId, emoji, may } = this.#context;
    return { ownId, emoji, react: may("add_reactions") ? (sign, added) => this.#on.react(this.#message, sign, added) : null };
  }

  #showActions() {
    const { may, ownId } = this.#context;
    const { author, pinned } = this.#message;
    const own = author.kind === "member" && author.id === ownId;
    this.#sure = false;
    this.#actions.setAttribute("aria-label", `Message of ${author.display_name}`);
    this.#actions.replaceChildren(...[
      may("add_reactions") && button("React", () => this.#choose()),
      own && may("send_messages") && button("Edit", () => this.edit()),
      may("manage_messages") && button(pinned ? "Unpin" : "Pin", () => this.#on.pin(this.#message, !pinned)),
      (own || may("manage_messages")) && button("Delete", ({ currentTarget }) => this.#remove(currentTarget)),
    ].filter(Boolean));
  }

  #choose() {
    const row = picker(this.#reacting(), () => {
      const had = row.contains(document.activeElement);
      row.remove();
      if (had) this.#actions.querySelector("button")?.focus();
    });
    this.element.querySelector(".picker")?.remove();
    this.#reactions.after(row);
    row.querySelector("button").focus();
  }

  /** What is gone is gone: it has to be pressed twice. */
  #remove(pressed) {
    if (this.#sure) return this.#on.remove(this.#message);
    this.#sure = true;
    pressed.textContent = "Really delete";
    pressed.addEventListener("blur", () => {
      this.#sure = false;
      pressed.textContent = "Delete";
    }, { once: true });
    return undefined;
  }
}

function button(label, pressed) {
  const made = make("button", { type: "button", textContent: label });
  made.addEventListener("click", pressed);
  return made;
}

function quoted(message) {
  if (!message) return "an earlier message";
  const text = message.text || message.fallback || "a file";
  return `${message.author.display_name}: ${text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text}`;
}
