// The reactions under a message, and the few emoji to choose from. Reports what is pressed.

import { make } from "./dom.js";

const USUAL = ["👍", "❤️", "😂", "🎉", "😮", "😢", "👀", "✅"];
const MOST_OWN = 40; // Of the server's own emoji; a longer list is a page of its own.

/** `emoji`: the server's own, by name; `react(emoji, added)` is called where that is allowed, and null otherwise. */
export function reactionList(reactions, { ownId, emoji, react }) {
  const items = reactions.map(({ emoji: sign, member_ids: members }) => {
    const own = members.includes(ownId);
    const button = make(
      "button",
      { type: "button", className: "reaction", disabled: !react, "aria-pressed": String(own), "aria-label": `${sign}, ${members.length}` },
      shown(sign, emoji),
      ` ${members.length}`,
    );
    button.addEventListener("click", () => react(sign, !own));
    return make("li", {}, button);
  });
  return make("ul", { className: "reactions", "aria-label": "Reactions", hidden: !items.length }, ...items);
}

/** A row of emoji to react with; `done` is called when one was chosen, or none. */
export function picker({ emoji, react }, done) {
  const own = [...emoji.keys()].slice(0, MOST_OWN).map((name) => `:${name}:`);
  const buttons = [...USUAL, ...own].map((sign) => {
    const button = make("button", { type: "button", "aria-label": sign }, shown(sign, emoji));
    button.addEventListener("click", () => {
      react(sign, true);
      done();
    });
    return button;
  });
  const row = make("div", { className: "picker", role: "group", "aria-label": "React with" }, ...buttons);
  row.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") done();
  });
  return row;
}

function shown(sign, emoji) {
  const found = emoji.get(sign.slice(1, -1));
  return found ? make("img", { src: found.url, alt: sign, width: 20, height: 20 }) : sign;
}
