// What a program sends to a webhook, while it is put together: the message, its first card, and what our own
// description says is wrong with it.

import { problemsIn } from "./schema.js";

/** The same with this at `path`, such as ["cards", 0, "title"]; nothing is left that is empty. */
export function withAt(value, [key, ...rest], wanted) {
  const changed = Array.isArray(value) ? [...value] : { ...value };
  const put = rest.length ? withAt(changed[key] ?? (typeof rest[0] === "number" ? [] : {}), rest, wanted) : wanted;
  if (!isEmpty(put)) changed[key] = put;
  else if (Array.isArray(changed)) changed.splice(key, 1);
  else delete changed[key];
  return changed;
}

const isEmpty = (value) => value === "" || value === null || value === undefined || value === false || (typeof value === "object" && Object.keys(value).length === 0);

/** The card as messages have it, for its preview. What cannot be shown is left out. */
export function shownCard({ color, fields, author, footer, image_url: image, thumbnail_url: thumbnail, ...card }) {
  const told = (text) => (typeof text === "string" ? text : "");
  const number = typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color) ? parseInt(color.slice(1), 16) : null;
  return {
    ...Object.fromEntries(Object.entries(card).filter(([, value]) => typeof value === "string")),
    color: Number.isInteger(color) ? color : number,
    author: author?.name ? { name: told(author.name), url: author.url } : null,
    footer: footer?.text ? { text: told(footer.text) } : null,
    fields: (Array.isArray(fields) ? fields : []).filter(Boolean).map(({ name, value, inline }) => ({ name: told(name), value: told(value), inline: inline === true })),
  };
}

/** The addresses of its pictures, which the server fetches when it is posted. */
export const picturesOf = ({ image_url: image, thumbnail_url: thumbnail, author, footer }) => [image, thumbnail, author?.icon_url, footer?.icon_url].filter((url) => typeof url === "string" && url);

/** What the server's description of webhooks says is wrong with a payload. */
export function problemsWith(description, payload) {
  const { post } = Object.values(description.paths)[0];
  return problemsIn(post.requestBody.content["application/json"].schema, payload, description);
}
