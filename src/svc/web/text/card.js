// A card of a webhook: docs/webhooks.md says what its parts are. Titles, names and footers are plain
// text, the rest is markdown; addresses that lead nowhere are shown as text.

import { link, make } from "./dom.js";
import { markdown } from "./markdown.js";
import { picture } from "./media.js";
import { moment } from "./times.js";

const THUMBNAIL = { widest: 80, highest: 80 };
const ICON = { widest: 20, highest: 20 };

export function card({ title, url, description, color, author, fields, image, thumbnail, footer, timestamp }, ownId) {
  const shown = make(
    "article",
    { className: "webhook-card" },
    author ? make("p", { className: "card-author" }, small(author.icon), named(author)) : null,
    title ? make("h2", {}, url ? link(url, {}, title) : title) : null,
    description ? make("div", { className: "text" }, markdown(description, ownId)) : null,
    fields?.length ? make("dl", {}, ...fields.map((field) => shownField(field, ownId))) : null,
    image ? picture(image, "") : null,
    thumbnail ? make("div", { className: "thumbnail" }, picture(thumbnail, "", THUMBNAIL)) : null,
    footer || timestamp ? bottom(footer, timestamp) : null,
  );
  if (color !== undefined) shown.style.borderLeftColor = `#${color.toString(16).padStart(6, "0")}`;
  return shown;
}

function named({ name, url }) {
  return url ? link(url, {}, name) : name;
}

function shownField({ name, value, inline }, ownId) {
  return make("div", { className: inline ? "inline" : "" }, make("dt", {}, name), make("dd", { className: "text" }, markdown(value, ownId)));
}

function bottom(footer, timestamp) {
  const at = timestamp ? new Date(timestamp) : null;
  const texts = [footer?.text, at && !Number.isNaN(at.getTime()) ? moment(at) : null].filter(Boolean);
  return make("p", { className: "card-footer" }, small(footer?.icon), ...texts.flatMap((part, index) => (index ? [" · ", part] : [part])));
}

function small(icon) {
  return icon ? picture(icon, "", ICON) : null;
}
