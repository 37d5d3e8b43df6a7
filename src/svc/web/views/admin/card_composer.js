// Edits a message with a card, either in fields or as JSON, and previews it. Violations of the webhook schema
// are shown immediately.

/** @import { Wrong } from "../../state/admin/json_schema.js" */
/** @import { PostedMessage, PostedProblem } from "../../types/api.js" */
/** @import { Put } from "./card_fields.js" */

import { picturesOf, problemsWith, shownCard, withAt } from "../../state/admin/webhook_payload.js";
import { postTo, webhookDescription } from "../../state/admin/management_requests.js";
import { notify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { knows, t } from "../../words/words.js";
import { Card } from "../conversation/card.js";
import { Markdown } from "../message_text.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copy_field.js";
import { CardFields } from "./card_fields.js";
import { useResponse, useFormRequest } from "./parts/form_request.js";

const written = (/** @type {PostedMessage} */ payload) => JSON.stringify(payload, null, 2);

/** @param {{address: string, onPosted: () => void}} props */
export function CardComposer({ address, onPosted }) {
  const [payload, setPayload] = useState(/** @type {PostedMessage} */ ({ text: t("card-first-text") }));
  const [typed, setTyped] = useState(/** @type {string | null} */ (null)); // The JSON while it is invalid.
  const [faults, setFaults] = useState(/** @type {string[]} */ ([]));
  const { value: description } = useResponse(webhookDescription);
  const { busy, problem, get } = useFormRequest();
  const json = typed ?? written(payload);
  /** @type {Put} */
  const put = (path, wanted) => {
    setTyped(null);
    setFaults([]);
    setPayload((now) => withAt(now, path, wanted));
  };
  const type = (/** @type {string} */ text) => {
    const read = parsed(text);
    setTyped(read && written(read) === text ? null : text);
    setFaults([]);
    if (read) setPayload(read);
  };
  const problems =
    typed !== null && !parsed(typed)
      ? [t("json-broken")]
      : [...(description ? problemsWith(description, payload).map(inWords) : []), ...faults];
  const post = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const answer = await get(() =>
      postTo(address, payload).catch((error) => {
        setFaults(
          (error.details?.problems ?? []).map(
            (/** @type {PostedProblem} */ { path, message }) => `${path}: ${message}`,
          ),
        );
        throw error;
      }),
    );
    if (answer)
      notify(
        answer.warnings.length ? answer.warnings.map(({ message }) => message).join(" ") : t("card-posted"),
        answer.warnings.length ? "error" : "done",
      );
    onPosted();
  };
  return html`<form class="stack composing" onSubmit=${post} novalidate>
    <h4>${t("card-try")}</h4>
    <p class="quiet">${t("card-try-about")}</p>
    <div class="preview-and-json">
      <${CardFields} payload=${payload} put=${put} />
      <div class="stack beside-it">
        <${Preview} payload=${payload} />
        <section aria-label=${t("card-json")}>
          <h4>${t("card-json")}</h4>
          <textarea
            class="snippet"
            dir="ltr"
            rows=${Math.min(18, json.split("\n").length + 1)}
            spellcheck=${false}
            aria-label=${t("card-json")}
            aria-invalid=${problems.length ? "true" : undefined}
            value=${json}
            onInput=${(/** @type {EventOn<HTMLTextAreaElement>} */ event) => type(event.currentTarget.value)}
          ></textarea>
          <div role="status">
            ${
              problems.length
                ? html`<ul class="error problems">
                    ${problems.map((problem) => html`<li key=${problem} dir="auto">${problem}</li>`)}
                  </ul>`
                : description && html`<small class="quiet">${t("card-valid")}</small>`
            }
          </div>
        </section>
      </div>
    </div>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer class="buttons">
      <${Button} icon="copy" onClick=${() => copy(json)}>${t("card-copy-json")}<//>
      <${Button} look="primary" type="submit" disabled=${busy || problems.length > faults.length}>
        ${t("card-post")}
      <//>
    </footer>
  </form>`;
}

/** @param {{payload: PostedMessage}} props */
function Preview({ payload }) {
  const cards = (Array.isArray(payload.cards) ? payload.cards : []).filter(
    (card) => card && typeof card === "object",
  );
  const pictures = cards.flatMap(picturesOf);
  return html`<section aria-label=${t("card-preview")}>
    <h4>${t("card-preview")}</h4>
    ${
      typeof payload.text === "string" &&
      payload.text &&
      html`<div class="text" dir="auto"><${Markdown} text=${payload.text} /></div>`
    }
    ${cards.map((card, index) => html`<${Card} key=${index} card=${shownCard(card)} />`)}
    ${
      pictures.length > 0 &&
      html`<small class="quiet">${t("card-pictures-later", { count: pictures.length })}</small>`
    }
  </section>`;
}

/** @param {Wrong} problem */
function inWords({ path, keyword, limit }) {
  const empty =
    keyword === "anyOf" && (path === "" ? "empty-message" : /^cards\[\d+\]$/.test(path) && "empty-card");
  const name = empty || keyword.toLowerCase();
  const words = knows(`problem-${name}`) ? t(`problem-${name}`, { limit: limit ?? 0 }) : t("problem-pattern");
  return path ? `${path}: ${words}` : words;
}

/**
 * Parse a message from JSON. Return null if it is invalid.
 * @param {string} text
 * @returns {PostedMessage | null}
 */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
