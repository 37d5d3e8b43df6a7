// The list of channels: text with what is unread, voice with who is there. Draws what it is given and
// reports what is chosen.

import { make } from "./dom.js";

const byId = (id) => document.getElementById(id);

export class ChannelList {
  #on;

  /** `on`: {text, voice}, each called with the id of the channel that was chosen. */
  constructor(on) {
    this.#on = on;
  }

  /** `texts`: [{id, name, topic, unread, mentions, current}], `voices`: [{id, name, count, current}]. */
  render({ texts, voices }) {
    byId("channels").hidden = texts.length === 0;
    reconcile(byId("text-channels"), texts, this.#on.text, showText);
    reconcile(byId("voice-channels"), voices, this.#on.voice, showVoice);
  }
}

/** Buttons stay what they are while their texts change, so that the keyboard keeps its place. */
function reconcile(list, channels, chosen, show) {
  const old = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = channels.map((channel) => {
    const item = old.get(channel.id) ?? create(channel, chosen);
    const button = item.firstElementChild;
    button.setAttribute("aria-current", String(channel.current));
    show(button, channel);
    return item;
  });
  if (items.length !== list.children.length || items.some((item, index) => item !== list.children[index])) list.replaceChildren(...items);
}

function create({ id }, chosen) {
  const name = make("span", { className: "channel-name" });
  const button = make("button", { type: "button" }, name, make("span", { className: "badge" }));
  button.addEventListener("click", () => chosen(id));
  return make("li", { "data-id": id }, button);
}

function showText(button, { name, topic, unread, mentions }) {
  button.title = topic;
  label(button, name, unread ? String(mentions || unread) : "", [unread && `${unread} unread`, mentions && (mentions === 1 ? "1 mention" : `${mentions} mentions`)]);
  button.classList.toggle("unread", unread > 0);
  button.classList.toggle("mentioned", mentions > 0);
}

function showVoice(button, { name, count }) {
  label(button, name, count ? String(count) : "", [count && `${count} here`, "voice"]);
}

function label(button, name, badge, words) {
  button.querySelector(".channel-name").textContent = name;
  button.querySelector(".badge").textContent = badge;
  button.setAttribute("aria-label", [name, ...words].filter(Boolean).join(", "));
}
