// A message with a card, put together in fields: as it will look, and beside it the JSON that a program sends for it.
// Either may be changed; what our own description of webhooks says is wrong is told at once.

import { picturesOf, problemsWith, shownCard, withAt } from "../../state/managing/payload.js";
import { postTo, webhookDescription } from "../../state/managing/server.js";
import { notify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { knows, t } from "../../words/words.js";
import { Card } from "../conversation/card.js";
import { Markdown } from "../message_text.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copying.js";
import { CardFields } from "./card_fields.js";
import { useAnswer, useAsking } from "./parts/asking.js";

const written = (payload) => JSON.stringify(payload, null, 2);

export function CardComposer({ address, onPosted }) {
  const [payload, setPayload] = useState({ text: t("card-first-text") });
  const [typed, setTyped] = useState(null); // JSON that cannot be read yet.
  const [refused, setRefused] = useState([]);
  const { value: description } = useAnswer(webhookDescription);
  const { busy, problem, run } = useAsking();
  const json = typed ?? written(payload);
  const put = (path, wanted) => {
    setTyped(null);
    setRefused([]);
    setPayload((now) => withAt(now, path, wanted));
  };
  const type = (text) => {
    const read = parsed(text);
    setTyped(read && written(read) === text ? null : text);
    setRefused([]);
    if (read) setPayload(read);
  };
  const problems = typed !== null && !parsed(typed) ? [t("json-broken")] : [...(description ? problemsWith(description, payload).map(inWords) : []), ...refused];
  const post = async (event) => {
    event.preventDefault();
    let answer;
    const send = async () => {
      answer = await postTo(address, payload).catch((error) => {
        setRefused((error.details?.problems ?? []).map(({ path, message }) => `${path}: ${message}`));
        throw error;
      });
    };
    if (await run(send)) notify(answer.warnings.length ? answer.warnings.map(({ message }) => message).join(" ") : t("card-posted"), answer.warnings.length ? "error" : "done");
    onPosted();
  };
  return html`<form class="stack composing" onSubmit=${post} novalidate><h4>${t("card-try")}</h4><p class="quiet">${t("card-try-about")}</p>
    <div class="preview-and-json"><${CardFields} payload=${payload} put=${put} />
      <div class="stack beside-it"><${Preview} payload=${payload} />
        <section aria-label=${t("card-json")}><h5>${t("card-json")}</h5>
          <textarea class="snippet" dir="ltr" rows=${Math.min(18, json.split("\n").length + 1)} spellcheck=${false} aria-label=${t("card-json")} aria-invalid=${problems.length ? "true" : undefined} value=${json} onInput=${(event) => type(event.currentTarget.value)}></textarea>
          <div role="status">${problems.length ? html`<ul class="error problems">${problems.map((each) => html`<li key=${each} dir="auto">${each}</li>`)}</ul>` : description && html`<small class="quiet">${t("card-valid")}</small>`}</div></section></div></div>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer class="buttons"><${Button} icon="copy" onClick=${() => copy(json)}>${t("card-copy-json")}<//><${Button} look="primary" type="submit" disabled=${busy || problems.length > refused.length}>${t("card-post")}<//></footer>
  </form>`;
}

function Preview({ payload }) {
  const cards = (Array.isArray(payload.cards) ? payload.cards : []).filter((card) => card && typeof card === "object");
  const pictures = cards.flatMap(picturesOf);
  return html`<section aria-label=${t("card-preview")}><h5>${t("card-preview")}</h5>
    ${typeof payload.text === "string" && payload.text && html`<div class="text" dir="auto"><${Markdown} text=${payload.text} /></div>`}
    ${cards.map((card, index) => html`<${Card} key=${index} card=${shownCard(card)} />`)}
    ${pictures.length > 0 && html`<small class="quiet">${t("card-pictures-later", { count: pictures.length })}</small>`}</section>`;
}

function inWords({ path, keyword, limit }) {
  const empty = keyword === "anyOf" && (path === "" ? "empty-message" : /^cards\[\d+\]$/.test(path) && "empty-card");
  const name = empty || keyword.toLowerCase();
  const words = knows(`problem-${name}`) ? t(`problem-${name}`, { limit }) : t("problem-pattern");
  return path ? `${path}: ${words}` : words;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
