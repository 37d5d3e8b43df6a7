// Renders the fields of a message with a card: its text and author, and every field of its first card.

/** @import { PostedCard, PostedField, PostedMessage } from "../../types/api.js" */
/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Field, Switch } from "../parts/field.js";
import { ColourChoice } from "./colour_choice.js";

const MAX_FIELDS = 25;
const CARD = ["cards", 0];
const hexOf = (/** @type {number} */ number) => `#${number.toString(16).padStart(6, "0")}`;

/**
 * @typedef {(path: (string | number)[], wanted: unknown) => void} Put Changes the value at a path in the
 * payload.
 */

/** @param {{payload: PostedMessage, put: Put}} props */
export function CardFields({ payload, put }) {
  /** @type {PostedCard} */
  const card = (Array.isArray(payload.cards) ? payload.cards[0] : null) ?? {};
  const field = (
    /** @type {(string | number)[]} */ path,
    /** @type {string} */ words,
    /** @type {object} */ attributes = {},
  ) => {
    const value = path.reduce(
      (/** @type {unknown} */ node, key) =>
        /** @type {{[key: string | number]: unknown} | null | undefined} */ (node)?.[key],
      payload,
    );
    return html`<${Field}
      key=${words}
      label=${t(`card-${words}`)}
      value=${typeof value === "string" ? value : ""}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => put(path, event.currentTarget.value)}
      autocomplete="off"
      ...${attributes}
    />`;
  };
  const url = { type: "url", inputmode: "url", placeholder: "https://", dir: "ltr" };
  const colour =
    typeof card.color === "string" && /^#[0-9a-f]{6}$/i.test(card.color)
      ? parseInt(card.color.slice(1), 16)
      : typeof card.color === "number" && Number.isInteger(card.color)
        ? card.color
        : null;
  return html`<div class="stack">
    ${field(["text"], "text", { multiline: true, rows: "2" })}
    <${More} title=${t("card-poster")}>
      ${field(["display_name"], "display-name")}${field(["avatar_url"], "avatar", url)}
    <//>
    ${field([...CARD, "title"], "title")}${field([...CARD, "url"], "url", url)}
    ${field([...CARD, "description"], "description", { multiline: true, rows: "3" })}
    <${ColourChoice}
      label=${t("card-colour")}
      value=${colour}
      onChange=${(/** @type {number | null} */ number) =>
        put([...CARD, "color"], number === null ? null : hexOf(number))}
    />
    <${More} title=${t("card-author")}>
      ${field([...CARD, "author", "name"], "author-name")}
      ${field([...CARD, "author", "url"], "author-url", url)}
      ${field([...CARD, "author", "icon_url"], "author-icon", url)}
    <//>
    <${More} title=${t("card-fields")}>
      <${Rows} fields=${Array.isArray(card.fields) ? card.fields : []} put=${put} />
    <//>
    <${More} title=${t("card-pictures")}>
      ${field([...CARD, "image_url"], "image", url)}${field([...CARD, "thumbnail_url"], "thumbnail", url)}
    <//>
    <${More} title=${t("card-bottom")}>
      ${field([...CARD, "footer", "text"], "footer")}
      ${field([...CARD, "footer", "icon_url"], "footer-icon", url)}
      ${field([...CARD, "timestamp"], "timestamp", { placeholder: "2026-01-31T12:00:00Z", dir: "ltr" })}
      <p>
        <${Button} onClick=${() => put([...CARD, "timestamp"], new Date().toISOString())}>${t("card-now")}<//>
      </p>
    <//>
  </div>`;
}

/** @param {{title: string, children: ComponentChildren}} props */
function More({ title, children }) {
  return html`<details class="spared">
    <summary>${title}</summary>
    <div class="stack">${children}</div>
  </details>`;
}

/** @param {{fields: (Partial<PostedField> | null)[], put: Put}} props */
function Rows({ fields, put }) {
  const at = (/** @type {number} */ index, /** @type {keyof PostedField} */ key) => [
    ...CARD,
    "fields",
    index,
    key,
  ];
  return html`
    ${fields.map(
      (field, index) => html`<fieldset class="card-field stack" key=${index}>
        <legend>
          ${t("card-field", { number: index + 1 })}
          <${IconButton}
            icon="trash"
            label=${t("card-field-remove", { number: index + 1 })}
            onClick=${() => put([...CARD, "fields", index], null)}
          />
        </legend>
        <${Field}
          label=${t("card-field-name")}
          value=${field?.name ?? ""}
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
            put(at(index, "name"), event.currentTarget.value)}
          autocomplete="off"
        />
        <${Field}
          label=${t("card-field-value")}
          multiline
          rows="2"
          value=${field?.value ?? ""}
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
            put(at(index, "value"), event.currentTarget.value)}
        />
        <${Switch}
          label=${t("card-field-inline")}
          checked=${field?.inline === true}
          onChange=${(/** @type {boolean} */ on) => put(at(index, "inline"), on)}
        />
      </fieldset>`,
    )}
    <p>
      <${Button}
        icon="add"
        disabled=${fields.length >= MAX_FIELDS}
        onClick=${() =>
          put([...CARD, "fields", fields.length], {
            name: t("card-field-name"),
            value: t("card-field-value"),
          })}
      >
        ${t("card-field-add")}
      <//>
    </p>
  `;
}
