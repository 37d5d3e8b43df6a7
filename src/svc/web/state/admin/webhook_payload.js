// Edits and validates the payload for a webhook while it is being composed: the message and its first card.

import { problemsIn } from "./json_schema.js";

/**
 * Return a copy of the value with `wanted` set at a path such as ["cards", 0, "title"]. Remove empty values.
 * @param {any} value
 * @param {(string | number)[]} path
 * @param {unknown} wanted
 * @returns {any}
 */
export function withAt(value, [key, ...rest], wanted) {
  const changed = Array.isArray(value) ? [...value] : { ...value };
  const put = rest.length
    ? withAt(changed[key] ?? (typeof rest[0] === "number" ? [] : {}), rest, wanted)
    : wanted;
  if (!isEmpty(put)) changed[key] = put;
  else if (Array.isArray(changed)) changed.splice(Number(key), 1);
  else delete changed[key];
  return changed;
}

/** @param {unknown} value */
const isEmpty = (value) =>
  value === "" ||
  value === null ||
  value === undefined ||
  value === false ||
  (typeof value === "object" && Object.keys(value).length === 0);

/**
 * Convert a card to the format used in messages, for its preview. Omit anything that cannot be displayed.
 * @param {any} card Unvalidated user input.
 */
export function shownCard({
  color,
  fields,
  author,
  footer,
  image_url: image,
  thumbnail_url: thumbnail,
  ...card
}) {
  const textOf = (/** @type {unknown} */ text) => (typeof text === "string" ? text : "");
  const number =
    typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color) ? parseInt(color.slice(1), 16) : null;
  return {
    ...Object.fromEntries(Object.entries(card).filter(([, value]) => typeof value === "string")),
    color: Number.isInteger(color) ? color : number,
    author: author?.name ? { name: textOf(author.name), url: author.url } : null,
    footer: footer?.text ? { text: textOf(footer.text) } : null,
    fields: (Array.isArray(fields) ? fields : [])
      .filter(Boolean)
      .map((/** @type {any} */ { name, value, inline }) => ({
        name: textOf(name),
        value: textOf(value),
        inline: inline === true,
      })),
  };
}

/** Return the URLs of a card's images. The server fetches them when the card is posted. @param {any} card */
export const picturesOf = ({ image_url: image, thumbnail_url: thumbnail, author, footer }) =>
  [image, thumbnail, author?.icon_url, footer?.icon_url].filter((url) => typeof url === "string" && url);

/**
 * Validate a payload against the server's OpenAPI description of webhooks. Return the errors.
 * @param {any} description
 * @param {unknown} payload
 */
export function problemsWith(description, payload) {
  const { post } = Object.values(description.paths)[0];
  return problemsIn(post.requestBody.content["application/json"].schema, payload, description);
}
